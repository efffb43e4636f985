"""The contract between the loop and whatever learns, on- or off-policy."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import tensorflow as tf

from agents.parts.trajectory import Decision, Nest, Trajectory


class Algorithm(tf.Module):
    """Decides on actions, and learns from what came of them.

    All that changes while it learns is in variables that it holds, so that a checkpoint
    of it is complete.

    Attributes:
        settings: dataclass of its own; `settings.horizon` is how many steps of each
            environment go into one `update`.
    """

    settings: Any

    def __init__(
        self,
        settings: Any,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        network: Any,
        num_envs: int,
        seed: int,
    ):
        """Build the variables.

        Args:
            settings: instance of the algorithm's settings dataclass.
            observation_space: of one environment.
            action_space: of one environment.
            network: function `(settings, observation_space, action_space, seed)` that
                builds one.
            num_envs: how many environments it will learn from.
            seed: of the initial weights.
        """
        del observation_space, action_space, network, num_envs, seed
        super().__init__()
        self.settings = settings

    def initial_state(self, batch_size: int) -> Nest:
        """Return the state at the start of an episode, nest of [batch, ...]."""
        raise NotImplementedError

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Decide on actions; nothing changes.

        Args:
            observation: nest of [batch, ...], raw.
            state: nest of [batch, ...], recurrent state.
            seed: [2] int32.
            training: whether to explore; otherwise the best known action is taken.
        """
        raise NotImplementedError

    def update(
        self, trajectory: Trajectory, seed: tf.Tensor, progress: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Learn from a trajectory.

        Args:
            trajectory: leaves [horizon, num_envs, ...].
            seed: [2] int32.
            progress: [] float32 in [0, 1], the share of the run that is done.

        Returns:
            Scalars [] float32 by name, for the logs.
        """
        raise NotImplementedError

    def warm_up(self, trajectory: Trajectory) -> None:
        """Take statistics from a first rollout, before anything is learned from."""

    def reduce_gradients(self, gradients: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        """Return gradients as they are; several learners would average them here."""
        return gradients
