"""The compiled functions of training: one call is one iteration, or several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts import loops
from agents.parts.trajectory import Trajectory
from agents.tools import finiteness, simulation
from agents.tools.in_graph_env import InGraphEnv, faults_raised

# Of all iterations in a call together, so that what it returns stays small.
_MOST_STEPS = 2**17


class KeptCarry(tf.Module):
    """A carry in variables, where a checkpoint holds it."""

    def __init__(self, specs: simulation.Carry):
        """Make a variable for each leaf of a carry of `tf.TensorSpec`s."""
        super().__init__()
        self._structure = specs
        self._variables = [
            tf.Variable(tf.zeros(spec.shape, spec.dtype), trainable=False)
            for spec in tf.nest.flatten(specs)
        ]

    def assign(self, carry: simulation.Carry) -> None:
        """Keep a carry."""
        for variable, leaf in zip(self._variables, tf.nest.flatten(carry), strict=True):
            variable.assign(leaf)

    def read(self) -> simulation.Carry:
        """Return the carry that was kept last, in this run or the one it resumes."""
        leaves = [tf.convert_to_tensor(variable) for variable in self._variables]
        return tf.nest.pack_sequence_as(self._structure, leaves)


class TrainingGraph:
    """Acting, stepping, storing and learning as one `tf.function`.

    Attributes:
        steps_per_iteration: environment steps, over all environments.
        most_iterations: how many fit in one call.
        kept: what a checkpoint holds of the environments, if they are array programs;
            None if not: they start anew wherever a run may have to go on.
    """

    def __init__(self, env: InGraphEnv, algorithm: Any):
        """Join environments and an algorithm; nothing is compiled yet."""
        self._env = env
        self._algorithm = algorithm
        self._horizon = algorithm.settings.horizon
        self.steps_per_iteration = env.num_envs * self._horizon
        self._start = tf.function(self._traced_start, autograph=False)
        self._iterate = tf.function(
            self._traced_iterate, autograph=False, jit_compile=env.compilable or None
        )
        self._warm_up = tf.function(self._traced_warm_up, autograph=False)
        self.most_iterations, self.kept = 1, None
        if env.compilable:
            self.most_iterations = max(1, _MOST_STEPS // self.steps_per_iteration)
            self.kept = KeptCarry(self._carry_specs())

    def start(self, seed: Sequence[int]) -> simulation.Carry:
        """Start an episode in each environment, by a seed of two 32-bit numbers."""
        with faults_raised(self._env):
            return self._start(tf.constant(seed, tf.int32))

    def iterate(
        self,
        carry: simulation.Carry,
        seeds: Sequence[Sequence[int]],
        progress: Sequence[float],
        last: bool,
    ) -> tuple[simulation.Carry, simulation.Episodes, dict[str, np.ndarray]]:
        """Simulate for the algorithm's horizon and let it learn, once or repeatedly.

        Args:
            carry: from `start` or the last call.
            seeds: one like that of `start` for each iteration, at most
                `most_iterations` of them.
            progress: in [0, 1] for each iteration, the share of the run that is done.
            last: whether episodes are cut off after the last of these iterations.

        Returns:
            The carry to go on with; as NumPy's arrays the episodes that ended, leaves
            [time, N], and metrics [iterations] float32 by name.

        Raises:
            EnvironmentFault: An environment failed, or gave no finite number.
        """
        count, most = len(seeds), self.most_iterations
        all_seeds = np.zeros([most, 2], np.int32)
        all_progress = np.zeros([most], np.float32)
        all_seeds[:count], all_progress[:count] = seeds, progress
        with faults_raised(self._env):
            carry, (episodes, metrics, found, first_steps) = self._iterate(
                carry,
                tf.constant(all_seeds),
                tf.constant(all_progress),
                tf.constant(count),
                tf.constant(last),
            )
        # A slice of a tensor outside of a graph takes 0.1 ms, so NumPy makes them.
        episodes, metrics, found, first_steps = tf.nest.map_structure(
            lambda leaf: leaf.numpy()[:count], (episodes, metrics, found, first_steps)
        )
        if self._env.compilable:
            # After an update that failed, actions are no numbers: not the environments'
            # fault.
            sound = np.all([np.isfinite(value) for value in metrics.values()], 0)
            checked = int(np.cumprod(sound).sum()) + 1
            finiteness.check(found[:checked], first_steps[:checked])
        episodes = tf.nest.map_structure(
            lambda leaf: leaf.reshape(-1, self._env.num_envs), episodes
        )
        return carry, episodes, metrics

    def warm_up(self, seed: Sequence[int]) -> None:
        """Show the algorithm a rollout before it learns: the untrained policy's.

        Raises:
            EnvironmentFault: An environment failed, or gave no finite number.
        """
        with faults_raised(self._env):
            found = self._warm_up(tf.constant(seed, tf.int32))
        finiteness.check(found[None], tf.constant([1]))

    def trace(self) -> None:
        """Trace all functions, neither compiling nor running them."""
        most = self.most_iterations
        self._iterate.get_concrete_function(
            self._carry_specs(),
            tf.TensorSpec([most, 2], tf.int32),
            tf.TensorSpec([most], tf.float32),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.bool),
        )
        self._warm_up.get_concrete_function(tf.TensorSpec([2], tf.int32))

    def tracing_counts(self) -> dict[str, int]:
        """Return how often each function was traced: once is enough for a run."""
        return simulation.tracing_counts(
            start=self._start, iterate=self._iterate, warm_up=self._warm_up
        )

    @property
    def restarts(self) -> int | None:
        """How many workers were started again; None where none ever is."""
        return self._env.restarts

    def abort(self) -> None:
        """End what is under way, from any thread."""
        self._env.abort()

    def _carry_specs(self) -> simulation.Carry:
        start = self._start.get_concrete_function(tf.TensorSpec([2], tf.int32))
        return loops.specs(start.structured_outputs)

    def _traced_start(self, seed: tf.Tensor) -> simulation.Carry:
        return simulation.start(self._env, self._algorithm, seed)

    def _traced_iterate(
        self,
        carry: simulation.Carry,
        seeds: tf.Tensor,
        progress: tf.Tensor,
        count: tf.Tensor,
        last: tf.Tensor,
    ) -> tuple[simulation.Carry, Any]:
        def iteration(carry, index):
            first_step = carry.counter + 1
            carry, trajectory, episodes = simulation.simulate(
                self._env, self._algorithm, carry, self._horizon, training=True
            )
            trajectory = cut_off(trajectory, last & (index == count - 1))
            metrics = self._algorithm.update(trajectory, seeds[index], progress[index])
            found = finiteness.first_fault(trajectory, carry.observation)
            return carry, (episodes, metrics, found, first_step)

        carry, rows = loops.scan(iteration, carry, self.most_iterations, count)
        return carry, rows

    def _traced_warm_up(self, seed: tf.Tensor) -> tf.Tensor:
        carry = self._traced_start(seed)
        carry, trajectory, _ = simulation.simulate(
            self._env, self._algorithm, carry, self._horizon, training=True
        )
        self._algorithm.warm_up(cut_off(trajectory, tf.constant(True)))
        return finiteness.first_fault(trajectory, carry.observation)


def cut_off(trajectory: Trajectory, last: tf.Tensor) -> Trajectory:
    """Mark the last row as truncated where `last` [] bool holds."""
    is_last_row = tf.range(trajectory.truncated.shape[0]) == (
        trajectory.truncated.shape[0] - 1
    )
    return trajectory._replace(
        truncated=trajectory.truncated | (is_last_row[:, None] & last)
    )
