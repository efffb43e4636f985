"""Environments that are array programs: compiled together with the policy."""

from typing import Any, NamedTuple, Protocol

import gymnasium
import tensorflow as tf

from agents.parts import randomness
from agents.parts.trajectory import Nest, TimeStep, select
from agents.tools.in_graph_env import InGraphEnv


class Dynamics(Protocol):
    """A task as pure functions of N states at once.

    Attributes:
        observation_space: of one environment.
        action_space: of one environment.
        max_length: steps after which an episode is truncated.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    max_length: int

    def start(self, seed: tf.Tensor, count: int) -> Nest:
        """Draw the states [count, ...] in which episodes start, by a seed [2] int32."""

    def step(self, state: Nest, action: tf.Tensor) -> tuple[Nest, tf.Tensor, tf.Tensor]:
        """Return the next state, the reward [N] float32, and terminated [N] bool."""

    def observe(self, state: Nest) -> Nest:
        """Return what is seen of a state, nest of [N, ...]."""


class DynamicsState(NamedTuple):
    """The whole state of a batch: it can be saved and continued in mid-episode.

    Attributes:
        physics: nest of [N, ...].
        length: [N] int32, steps of the episode so far.
        seed: [2] int32, from which starts are drawn, together with
        counter: [] int64, the steps since the seed was set.
    """

    physics: Nest
    length: tf.Tensor
    seed: tf.Tensor
    counter: tf.Tensor


class DynamicsEnv(InGraphEnv):
    """N environments of the same dynamics, truncated at a limit."""

    compilable = True

    def __init__(self, dynamics: Dynamics, num_envs: int, max_length: int | None):
        """Make a batch; `max_length`, if given, replaces the limit of the dynamics."""
        super().__init__()
        self._dynamics = dynamics
        self._max_length = max_length or dynamics.max_length
        self.num_envs = num_envs
        self.observation_space = dynamics.observation_space
        self.action_space = dynamics.action_space

    def reset(self, seed: tf.Tensor) -> tuple[DynamicsState, Nest]:
        """Start an episode in each environment."""
        now_seed, later_seed = tf.unstack(randomness.split(seed, 2))
        physics = self._dynamics.start(now_seed, self.num_envs)
        length = tf.zeros([self.num_envs], tf.int32)
        state = DynamicsState(physics, length, later_seed, tf.constant(0, tf.int64))
        return state, self._dynamics.observe(physics)

    def step(
        self, state: DynamicsState, action: tf.Tensor
    ) -> tuple[DynamicsState, TimeStep]:
        """Step each environment, and draw a new start where an episode ended."""
        physics, reward, terminated = self._dynamics.step(state.physics, action)
        length = state.length + 1
        truncated = length >= self._max_length
        ended = terminated | truncated
        seed = randomness.fold(state.seed, state.counter)
        start = self._dynamics.start(seed, self.num_envs)
        next_physics = select(ended, start, physics)
        time_step = TimeStep(
            observation=self._dynamics.observe(next_physics),
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            final_observation=self._dynamics.observe(physics),
            valid=tf.ones([self.num_envs], tf.bool),
        )
        return state._replace(
            physics=next_physics,
            length=tf.where(ended, 0, length),
            counter=state.counter + 1,
        ), time_step
