"""An algorithm so simple that everything it does can be told beforehand."""

import dataclasses
from typing import Any

import gymnasium
import tensorflow as tf

from agents.algorithms.algorithm import Algorithm
from agents.parts.trajectory import Decision, Nest, Trajectory


@dataclasses.dataclass(frozen=True)
class LearnerSettings:
    """Steps between updates, and what `update` reports as its loss."""

    horizon: int = 4
    loss: float = 0.5


class Learner(Algorithm):
    """Acts at random in training and by 0 otherwise; counts its steps as a state.

    Attributes:
        weight: [] float32, changed by all that an update is given, so that any
            difference between two runs shows in it.
        trajectories: those that `update` was traced with.
    """

    def __init__(self, settings: LearnerSettings, env: Any):
        """Learn in an `InGraphEnv` with Discrete(2) actions."""
        spaces = env.observation_space, env.action_space
        super().__init__(settings, *spaces, None, env.num_envs, 0)
        self.weight = tf.Variable(0.0)
        self.warm_up_count = tf.Variable(0.0)
        self._action_space: gymnasium.Space = env.action_space

    def initial_state(self, batch_size: int) -> Nest:
        """Return 0 steps."""
        return tf.zeros([batch_size], tf.int32)

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Draw 0 or 1 in training."""
        del observation
        count = state.shape[0]
        action = tf.zeros([count], tf.int64)
        if training:
            action = tf.random.stateless_uniform([count], seed, 0, 2, tf.int64)
        return Decision(action, state + 1, {"drawn": action})

    def update(
        self, trajectory: Trajectory, seed: tf.Tensor, progress: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Mix everything into the weight."""
        leaves = [tf.cast(leaf, tf.float32) for leaf in tf.nest.flatten(trajectory)]
        mixed = tf.add_n([tf.reduce_mean(tf.sin(leaf)) for leaf in leaves])
        noise = tf.random.stateless_normal([], seed)
        self.weight.assign(0.9 * self.weight + mixed + noise + progress)
        return {"loss": tf.constant(self.settings.loss)}

    def warm_up(self, trajectory: Trajectory) -> None:
        """Count the transitions."""
        self.warm_up_count.assign_add(
            tf.reduce_sum(tf.cast(trajectory.valid, tf.float32))
        )
