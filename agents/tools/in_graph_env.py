"""The contract of a batch of environments whose step is a TensorFlow operation."""

import contextlib
from collections.abc import Iterator
from typing import Any

import gymnasium
import tensorflow as tf

from agents.parts.trajectory import Nest, TimeStep, Trajectory


class InGraphEnv(tf.Module):
    """N environments with the same spaces.

    Where an episode ends, the next one starts within the same step: `TimeStep` has the
    final observation beside the first of the next episode. All randomness follows from
    the seed of `reset`.

    Attributes:
        num_envs: N.
        observation_space: of one environment.
        action_space: of one environment.
        compilable: whether XLA may compile `reset` and `step`.
        fault: what the environments raised last, or None; TensorFlow passes on only its
            text.
        restarts: how many workers were started again; None where none ever is.
    """

    num_envs: int
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    compilable: bool
    fault: Exception | None = None
    restarts: int | None = None

    def reset(self, seed: tf.Tensor) -> tuple[Nest, Nest]:
        """Start an episode in each environment.

        Args:
            seed: [2] int32.

        Returns:
            The state, a nest of tensors that the caller carries, and the observation,
            a nest of [N, ...].
        """
        raise NotImplementedError

    def step(self, state: Nest, action: tf.Tensor) -> tuple[Nest, TimeStep]:
        """Step each environment.

        Args:
            state: as `reset` or the last `step` returned it.
            action: [N, ...] in the dtype and within the bounds of the action space.
        """
        raise NotImplementedError

    def remember(self, observation: Nest, rows: Trajectory) -> None:
        """Take note of how a simulation ended; called once for each.

        Args:
            observation: nest of [N, ...], what to act on next.
            rows: of the simulation; only actions, rewards and flags are there always.
        """

    def abort(self) -> None:
        """End the step that is under way, from any thread; the batch is lost."""

    def close(self) -> None:
        """Release what the environments hold."""


@contextlib.contextmanager
def faults_raised(env: InGraphEnv) -> Iterator[None]:
    """Raise what the environments raised, in place of TensorFlow's error about it."""
    try:
        yield
    except tf.errors.OpError:
        if env.fault is None:
            raise
        raise env.fault from None
