"""What environments, algorithms and the simulation hand to one another.

Shapes: T steps, N environments. A nest is any structure that `tf.nest` knows.
"""

from typing import Any, NamedTuple

import tensorflow as tf

Nest = Any


class TimeStep(NamedTuple):
    """What a batch of environments answers to a batch of actions.

    Attributes:
        observation: nest of [N, ...], what to act on next; where an episode ended, the
            first observation of the next one.
        reward: [N] float32.
        terminated: [N] bool, the task ended: what follows is worth 0. Where an
            environment reports both ends, this one counts.
        truncated: [N] bool, the episode was cut off: bootstrap from final_observation.
        final_observation: nest of [N, ...], the successor before any reset; equal to
            observation where nothing ended.
        valid: [N] bool, false where no transition happened; if truncated holds as well,
            the episode was lost, and the observation is the first of another.
    """

    observation: Nest
    reward: tf.Tensor
    terminated: tf.Tensor
    truncated: tf.Tensor
    final_observation: Nest
    valid: tf.Tensor


class Decision(NamedTuple):
    """What an algorithm decides for a batch of observations.

    Attributes:
        action: [N, ...] in the units and dtype of the action space, within its bounds.
        state: nest of [N, ...], the recurrent state after this step, or ().
        extras: nest of [N, ...], whatever the algorithm wants back in `update`.
    """

    action: tf.Tensor
    state: Nest
    extras: Nest


class Trajectory(NamedTuple):
    """T transitions of N environments, every leaf [T, N, ...].

    Observations are raw. `state` is the recurrent state before the step. Rows with
    `valid` false are no transitions: nothing may be learned from them.
    """

    observation: Nest
    action: tf.Tensor
    reward: tf.Tensor
    terminated: tf.Tensor
    truncated: tf.Tensor
    final_observation: Nest
    valid: tf.Tensor
    state: Nest
    extras: Nest


def select(condition: tf.Tensor, chosen: Nest, other: Nest) -> Nest:
    """Choose between rows: leaves [*rows, ...] by a condition [*rows] bool."""

    def choose(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        extra = b.shape.rank - condition.shape.rank
        return tf.where(tf.reshape(condition, condition.shape + [1] * extra), a, b)

    return tf.nest.map_structure(choose, chosen, other)


def without_invalid(trajectory: Trajectory) -> Trajectory:
    """Put zeros where `valid` does not hold: such rows may hold anything, even NaN.

    Their flags stay, as an episode may have been lost there.
    """
    zeros = tf.nest.map_structure(tf.zeros_like, trajectory)
    return select(trajectory.valid, trajectory, zeros)._replace(
        terminated=trajectory.terminated, truncated=trajectory.truncated
    )
