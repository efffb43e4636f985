"""The compiled functions of training: one call is one iteration."""

from typing import Any

import tensorflow as tf

from agents.parts.trajectory import Trajectory
from agents.tools import simulation
from agents.tools.in_graph_env import InGraphEnv, faults_raised


class TrainingGraph:
    """Acting, stepping, storing and learning as one `tf.function`."""

    def __init__(self, env: InGraphEnv, algorithm: Any):
        """Join environments and an algorithm; nothing is traced yet."""
        self._env = env
        self._algorithm = algorithm
        self._horizon = algorithm.settings.horizon
        self.steps_per_iteration = env.num_envs * self._horizon
        self._start = tf.function(self._traced_start, autograph=False)
        self._iterate = tf.function(
            self._traced_iterate, autograph=False, jit_compile=env.compilable or None
        )
        self._warm_up = tf.function(self._traced_warm_up, autograph=False)

    def start(self, seed: tf.Tensor) -> simulation.Carry:
        """Start an episode in each environment, by a seed [2] int32."""
        with faults_raised(self._env):
            return self._start(seed)

    def iterate(
        self, carry: simulation.Carry, seed: tf.Tensor, progress: float, last: bool
    ) -> tuple[simulation.Carry, simulation.Episodes, dict[str, tf.Tensor]]:
        """Simulate for the algorithm's horizon, and let it learn from that.

        Args:
            carry: from `start` or the last iteration.
            seed: [2] int32, of the update.
            progress: in [0, 1], the share of the run that is done.
            last: whether episodes are cut off after this iteration.
        """
        progress_tensor = tf.constant(progress, tf.float32)
        with faults_raised(self._env):
            return self._iterate(carry, seed, progress_tensor, tf.constant(last))

    def warm_up(self, seed: tf.Tensor) -> None:
        """Show the algorithm a rollout before it learns: the untrained policy's."""
        with faults_raised(self._env):
            self._warm_up(seed)

    def trace(self, seed: tf.Tensor) -> None:
        """Trace all functions, neither compiling nor running them.

        Args:
            seed: [2] int32, of any value.
        """
        carry = simulation.specs(
            self._start.get_concrete_function(seed).structured_outputs
        )
        progress, last = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool)
        self._iterate.get_concrete_function(carry, seed, progress, last)
        self._warm_up.get_concrete_function(seed)

    def tracing_counts(self) -> dict[str, int]:
        """Return how often each function was traced: once is enough for a run."""
        return simulation.tracing_counts(
            start=self._start, iterate=self._iterate, warm_up=self._warm_up
        )

    def abort(self) -> None:
        """End what is under way, from any thread."""
        self._env.abort()

    def _traced_start(self, seed: tf.Tensor) -> simulation.Carry:
        return simulation.start(self._env, self._algorithm, seed)

    def _traced_iterate(
        self,
        carry: simulation.Carry,
        seed: tf.Tensor,
        progress: tf.Tensor,
        last: tf.Tensor,
    ) -> tuple[simulation.Carry, simulation.Episodes, dict[str, tf.Tensor]]:
        carry, trajectory, episodes = simulation.simulate(
            self._env, self._algorithm, carry, self._horizon, training=True
        )
        trajectory = cut_off(trajectory, last)
        return carry, episodes, self._algorithm.update(trajectory, seed, progress)

    def _traced_warm_up(self, seed: tf.Tensor) -> None:
        carry = self._traced_start(seed)
        _, trajectory, _ = simulation.simulate(
            self._env, self._algorithm, carry, self._horizon, training=True
        )
        self._algorithm.warm_up(cut_off(trajectory, tf.constant(True)))


def cut_off(trajectory: Trajectory, last: tf.Tensor) -> Trajectory:
    """Mark the last row as truncated where `last` [] bool holds."""
    is_last_row = tf.range(trajectory.truncated.shape[0]) == (
        trajectory.truncated.shape[0] - 1
    )
    return trajectory._replace(
        truncated=trajectory.truncated | (is_last_row[:, None] & last)
    )
