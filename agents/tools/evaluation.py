"""Whole episodes with the best known actions."""

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from agents.parts import loops
from agents.tools import simulation
from agents.tools.faults import EnvironmentFault
from agents.tools.in_graph_env import InGraphEnv, faults_raised
from agents.tools.statistics import EpisodeStatistics

CHUNK_STEPS = 64


class Evaluation:
    """Plays a fixed quota of whole episodes in each environment.

    A quota for each environment, rather than the first episodes to end in any, since
    short episodes would otherwise be counted too often.
    """

    def __init__(self, env: InGraphEnv, policy: simulation.Policy, episodes: int):
        """Prepare to play at least `episodes`, equally many in each environment."""
        self._env = env
        self._policy = policy
        self._quota = -(-episodes // env.num_envs)
        self._start = tf.function(
            lambda seed: simulation.start(env, policy, seed), autograph=False
        )
        self._play = tf.function(
            self._play_chunk, autograph=False, jit_compile=env.compilable or None
        )

    def run(
        self, seed: Sequence[int], between_chunks: Callable[[], None] = lambda: None
    ) -> EpisodeStatistics:
        """Play the episodes that follow from a seed of two 32-bit numbers.

        Args:
            seed: of the environments.
            between_chunks: called every so many steps; what it raises ends the run.
        """
        try:
            return self._run(tf.constant(seed, tf.int32), between_chunks)
        except EnvironmentFault as fault:
            reason = f"{fault.reason} (in an evaluation)"
            raise EnvironmentFault(
                fault.indices, reason, fault.remote_traceback
            ) from None

    def trace(self) -> None:
        """Trace all functions, neither compiling nor running them."""
        start = self._start.get_concrete_function(tf.TensorSpec([2], tf.int32))
        self._play.get_concrete_function(loops.specs(start.structured_outputs))

    def tracing_counts(self) -> dict[str, int]:
        """Return how often each function was traced: once is enough for a run."""
        return simulation.tracing_counts(start=self._start, play=self._play)

    @property
    def restarts(self) -> int | None:
        """How many workers were started again; None where none ever is."""
        return self._env.restarts

    def abort(self) -> None:
        """End what is under way, from any thread."""
        self._env.abort()

    def _run(
        self, seed: tf.Tensor, between_chunks: Callable[[], None]
    ) -> EpisodeStatistics:
        statistics = EpisodeStatistics()
        played = np.zeros(self._env.num_envs, np.int64)
        with faults_raised(self._env):
            carry = self._start(seed)
        while played.min() < self._quota:
            between_chunks()
            with faults_raised(self._env):
                carry, episodes = self._play(carry)
            episodes = tf.nest.map_structure(lambda leaf: leaf.numpy(), episodes)
            _check_scores(episodes.score)
            number = played + np.cumsum(episodes.ended, 0)
            counted = episodes.ended & (number <= self._quota)
            statistics.add(episodes._replace(ended=counted))
            played += episodes.ended.sum(0)
        return statistics

    def _play_chunk(
        self, carry: simulation.Carry
    ) -> tuple[simulation.Carry, simulation.Episodes]:
        carry, _, episodes = simulation.simulate(
            self._env, self._policy, carry, CHUNK_STEPS, training=False
        )
        return carry, episodes


def _check_scores(scores: np.ndarray) -> None:
    """Raise a fault for scores [T, N] that are no numbers: so was a reward."""
    faulty = np.argwhere(~np.isfinite(scores))
    if faulty.size:
        raise EnvironmentFault(
            [int(faulty[0, 1])],
            "gave a reward that is infinite or no number: rewards must be finite",
        )
