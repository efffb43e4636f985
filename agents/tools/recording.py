"""Whole episodes of a policy, step by step, as a data set of demonstrations."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Decision, Nest, Trajectory
from agents.tools import simulation
from agents.tools.evaluation import CHUNK_STEPS
from agents.tools.in_graph_env import InGraphEnv, faults_raised


class Greedy:
    """A policy that does not explore, even where a trajectory is kept."""

    def __init__(self, policy: simulation.Policy):
        """Stand in front of a policy."""
        self._policy = policy

    def initial_state(self, batch_size: int) -> Nest:
        """Return the recurrent state at the start of an episode."""
        return self._policy.initial_state(batch_size)

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Take the best known action."""
        del training
        return self._policy.perform(observation, state, seed, training=False)


def record(
    env: InGraphEnv, policy: simulation.Policy, episodes: int, seed: Sequence[int]
) -> list[dict[str, Any]]:
    """Play episodes by the best known actions.

    Args:
        env: N environments.
        policy: decides.
        episodes: how many at least; equally many in each environment.
        seed: two 32-bit numbers.

    Returns:
        For each episode of T steps its `observations`, leaves [T + 1, ...], `actions`
        [T, ...], `rewards` [T] float32, `terminations` and `truncations` [T] bool.

    Raises:
        EnvironmentFault: An environment failed.
    """
    greedy = Greedy(policy)
    start = tf.function(lambda s: simulation.start(env, greedy, s), autograph=False)
    play = tf.function(
        lambda carry: simulation.simulate(env, greedy, carry, CHUNK_STEPS, True)[:2],
        autograph=False,
        jit_compile=env.compilable or None,
    )
    quota = -(-episodes // env.num_envs)
    chunks, played = [], np.zeros(env.num_envs, np.int64)
    with faults_raised(env):
        carry = start(tf.constant(seed, tf.int32))
        while played.min() < quota:
            carry, rows = play(carry)
            chunks.append(tf.nest.map_structure(lambda leaf: leaf.numpy(), rows))
            ended = chunks[-1].terminated | chunks[-1].truncated
            played += (ended & chunks[-1].valid).sum(0)
    rows = tf.nest.map_structure(lambda *leaves: np.concatenate(leaves), *chunks)
    found: list[dict[str, Any]] = []
    for index in range(env.num_envs):
        own = tf.nest.map_structure(lambda leaf, index=index: leaf[:, index], rows)
        found += list(whole_episodes(own))[:quota]
    return found


def whole_episodes(rows: Trajectory) -> Iterator[dict[str, Any]]:
    """Cut the arrays [T, ...] of one environment where episodes end; see `record`.

    What was lost on the way, and what did not end, is left out; so are rows within an
    episode that are no transitions.
    """
    first = 0
    for last in np.flatnonzero(rows.terminated | rows.truncated):
        span = slice(first, last + 1)
        first = last + 1
        if not rows.valid[last]:
            continue
        own = tf.nest.map_structure(
            lambda leaf, span=span: leaf[span][rows.valid[span]], rows
        )
        yield {
            "observations": tf.nest.map_structure(
                lambda leaf, final: np.concatenate([leaf, final[-1:]]),
                own.observation,
                own.final_observation,
            ),
            "actions": own.action,
            "rewards": own.reward,
            "terminations": own.terminated,
            "truncations": own.truncated,
        }
