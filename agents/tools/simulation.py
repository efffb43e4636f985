"""Acting and stepping, as one loop in the graph."""

from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from agents.parts import loops, randomness
from agents.parts.advantages import discounted_sums
from agents.parts.trajectory import Decision, Nest, Trajectory, select
from agents.tools.in_graph_env import InGraphEnv


class Policy(Protocol):
    """What acts: an algorithm, or anything with these two methods of it."""

    def initial_state(self, batch_size: int) -> Nest:
        """Return the recurrent state at the start of an episode."""

    def perform(
        self, observation: Nest, state: Nest, seed: tf.Tensor, training: bool
    ) -> Decision:
        """Decide what to do."""


class Carry(NamedTuple):
    """Where a simulation stands: it goes on from there.

    Attributes:
        environment: state of the environments.
        observation: nest of [N, ...], what to act on next.
        state: nest of [N, ...], recurrent state of the policy.
        score: [N] float32, sum of rewards in the episode so far.
        length: [N] float32, steps of the episode so far.
        seed: [2] int32, from which all draws follow, together with
        counter: [] int64, the steps since the seed was set.
    """

    environment: Nest
    observation: Nest
    state: Nest
    score: tf.Tensor
    length: tf.Tensor
    seed: tf.Tensor
    counter: tf.Tensor


class Episodes(NamedTuple):
    """The episodes that ended, where `ended` holds, each leaf [T, N].

    Attributes:
        score: float32, undiscounted sum of raw rewards.
        length: float32, steps.
        ended: bool.
    """

    score: tf.Tensor
    length: tf.Tensor
    ended: tf.Tensor


def start(env: InGraphEnv, policy: Policy, seed: tf.Tensor) -> Carry:
    """Reset all environments.

    Args:
        env: the environments.
        policy: gives the first recurrent state.
        seed: [2] int32; environments and actions are seeded from it.
    """
    env_seed, action_seed = tf.unstack(randomness.split(seed, 2))
    environment, observation = env.reset(env_seed)
    return Carry(
        environment=environment,
        observation=observation,
        state=policy.initial_state(env.num_envs),
        score=tf.zeros([env.num_envs]),
        length=tf.zeros([env.num_envs]),
        seed=action_seed,
        counter=tf.constant(0, tf.int64),
    )


def simulate(
    env: InGraphEnv, policy: Policy, carry: Carry, steps: int, training: bool
) -> tuple[Carry, Trajectory | None, Episodes]:
    """Let a policy act for a number of steps.

    Args:
        env: N environments.
        policy: decides; usually an algorithm.
        carry: from `start`, or from the last simulation.
        steps: T.
        training: whether the policy explores, and a trajectory is kept.

    Returns:
        The carry to go on with; the trajectory, leaves [T, N, ...], or None where not
        training; the episodes that ended.
    """
    seeds = randomness.split(randomness.fold(carry.seed, carry.counter), steps)

    # Outside of XLA a step costs as much as there are operations in here and tensors
    # that the loop carries: what can wait until it has ended stands behind it.
    def advance(now: tuple[Nest, Nest, Nest], step: tf.Tensor) -> tuple[Any, Any]:
        environment, observation, state = now
        decision = policy.perform(observation, state, seeds[step], training)
        environment, time_step = env.step(environment, decision.action)
        ended = time_step.terminated | time_step.truncated
        start_state = policy.initial_state(env.num_envs)
        row = Trajectory(
            observation=observation if training else (),
            action=decision.action,
            reward=time_step.reward,
            terminated=time_step.terminated,
            truncated=time_step.truncated,
            final_observation=time_step.final_observation if training else (),
            valid=time_step.valid,
            state=state if training else (),
            extras=decision.extras if training else (),
        )
        state = select(ended, start_state, decision.state)
        return (environment, time_step.observation, state), row

    now = (carry.environment, carry.observation, carry.state)
    now, rows = loops.scan(advance, now, steps)
    env.remember(now[1], rows)
    episodes, score, length = _episodes(carry, rows)
    environment, observation, state = now
    carry = Carry(
        environment=environment,
        observation=observation,
        state=state,
        score=score,
        length=length,
        seed=carry.seed,
        counter=carry.counter + steps,
    )
    return carry, rows if training else None, episodes


def _episodes(carry: Carry, rows: Trajectory) -> tuple[Episodes, tf.Tensor, tf.Tensor]:
    """Return the episodes, and score and length [N] of those that go on."""
    ended = rows.terminated | rows.truncated
    scores, score = discounted_sums(carry.score, rows.reward, ended, rows.valid, 1.0)
    ones = tf.ones_like(rows.reward)
    lengths, length = discounted_sums(carry.length, ones, ended, rows.valid, 1.0)
    return Episodes(scores, lengths, ended & rows.valid), score, length


def tracing_counts(**functions: Any) -> dict[str, int]:
    """Return how often each `tf.function` was traced."""
    return {
        name: function.experimental_get_tracing_count()
        for name, function in functions.items()
    }
