"""Infinities and NaNs from compiled environments, where nothing can be raised."""

import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Nest, Trajectory
from agents.tools.faults import EnvironmentFault

_QUANTITIES = ("reward", "observation")


def first_fault(trajectory: Trajectory, observation: Nest) -> tf.Tensor:
    """Return [4] int32: whether anything is not finite, and where it is first.

    The numbers are 1 if so, otherwise 0; the row of the trajectory; the environment;
    and 0 for its reward or 1 for its observation. Rows that are no transitions do not
    count.

    Args:
        trajectory: leaves [T, N, ...].
        observation: nest of [N, ...], what is acted on after it.
    """
    shape = trajectory.valid.shape
    following = tf.nest.map_structure(
        lambda leaf, last: tf.concat([leaf[1:], last[None]], 0),
        trajectory.observation,
        observation,
    )
    finite_observation = tf.ones(shape, tf.bool)
    for leaf in tf.nest.flatten(
        (trajectory.observation, trajectory.final_observation, following)
    ):
        if leaf.dtype.is_floating:
            finite = tf.reshape(tf.math.is_finite(leaf), [*shape, -1])
            finite_observation &= tf.reduce_all(finite, -1)
    finite = tf.stack([tf.math.is_finite(trajectory.reward), finite_observation], -1)
    faulty = tf.reshape(~finite & trajectory.valid[..., None], [-1])
    first = tf.argmax(tf.cast(faulty, tf.int32), output_type=tf.int32)
    place = (first // (2 * shape[1]), first // 2 % shape[1], first % 2)
    return tf.stack([tf.cast(faulty[first], tf.int32), *place])


def check(found: tf.Tensor, first_steps: tf.Tensor) -> None:
    """Raise what `first_fault` found in several iterations.

    Args:
        found: [iterations, 4] int32.
        first_steps: [iterations] int64, number of the step that is row 0.

    Raises:
        EnvironmentFault: Names the environment, the quantity and the step.
    """
    for (faulty, row, index, quantity), first_step in zip(
        np.asarray(found), np.asarray(first_steps), strict=True
    ):
        if faulty:
            raise EnvironmentFault(
                [int(index)],
                f"gave a {_QUANTITIES[quantity]} that is infinite or no number in step "
                f"{first_step + row} after the batch was reset: observations and "
                "rewards must be finite numbers",
            )
