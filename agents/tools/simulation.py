"""Acting and stepping, as one loop in the graph."""

from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from agents.parts import loops, randomness
from agents.parts.trajectory import Decision, Nest, TimeStep, Trajectory, select
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
        action: [N, ...], the last one.
        time_step: what it led to; its observation is acted on next.
        state: nest of [N, ...], recurrent state of the policy.
        score: [N] float32, sum of rewards in the episode so far.
        length: [N] int32, steps of the episode so far.
        seed: [2] int32, from which all draws follow, together with
        counter: [] int64, the steps since the seed was set.
    """

    environment: Nest
    action: tf.Tensor
    time_step: TimeStep
    state: Nest
    score: tf.Tensor
    length: tf.Tensor
    seed: tf.Tensor
    counter: tf.Tensor


class Episodes(NamedTuple):
    """The episodes that ended, where `ended` holds, each leaf [T, N].

    Attributes:
        score: float32, undiscounted sum of raw rewards.
        length: int32, steps.
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
    count = env.num_envs
    nothing = tf.zeros([count], tf.bool)
    return Carry(
        environment=environment,
        action=tf.zeros([count, *env.action_space.shape], env.action_space.dtype),
        time_step=TimeStep(
            observation, tf.zeros([count]), nothing, nothing, observation, nothing
        ),
        state=policy.initial_state(count),
        score=tf.zeros([count]),
        length=tf.zeros([count], tf.int32),
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

    first_step = carry.counter
    seeds = randomness.split(randomness.fold(carry.seed, first_step), steps)

    def advance(carry: Carry) -> tuple[Carry, Any]:
        seed = seeds[carry.counter - first_step]
        observation = carry.time_step.observation
        decision = policy.perform(observation, carry.state, seed, training)
        environment, time_step = env.step(carry.environment, decision.action)
        ended = (time_step.terminated | time_step.truncated) & time_step.valid
        score = carry.score + tf.where(time_step.valid, time_step.reward, 0.0)
        length = carry.length + tf.cast(time_step.valid, tf.int32)
        row = Trajectory(
            observation=observation,
            action=decision.action,
            **{key: getattr(time_step, key) for key in _OUTCOME},
            state=carry.state,
            extras=decision.extras,
        )
        carry = Carry(
            environment=environment,
            action=decision.action,
            time_step=time_step,
            state=select(ended, policy.initial_state(env.num_envs), decision.state),
            score=tf.where(ended, 0.0, score),
            length=tf.where(ended, 0, length),
            seed=carry.seed,
            counter=carry.counter + 1,
        )
        episodes = Episodes(score, length, ended)
        return carry, (row if training else (), episodes)

    carry, (trajectory, episodes) = loops.scan(advance, carry, steps)
    env.remember(carry.action, carry.time_step)
    return carry, trajectory if training else None, episodes


def tracing_counts(**functions: Any) -> dict[str, int]:
    """Return how often each `tf.function` was traced."""
    return {
        name: function.experimental_get_tracing_count()
        for name, function in functions.items()
    }


_OUTCOME = ("reward", "terminated", "truncated", "final_observation", "valid")
