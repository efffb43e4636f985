"""JAX functions as operations of TensorFlow's graph."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf
from jax.experimental import jax2tf

from agents.environments.jax_checks import checked_layout
from agents.environments.jax_env import JaxTask
from agents.environments.jax_functions import Batch, travel_dtype
from agents.parts import nests
from agents.parts.trajectory import Nest, TimeStep
from agents.tools.in_graph_env import InGraphEnv


class JaxState(NamedTuple):
    """The whole state of a batch: it can be saved and continued in mid-episode.

    Attributes:
        arrays: the states of the task as plain tensors [N, ...].
        length: [N] int32, steps of the episode so far.
        seed: [2] int32, from which all keys are made, together with
        counter: [] int64, the steps since the seed was set, and 1.
    """

    arrays: tuple[tf.Tensor, ...]
    length: tf.Tensor
    seed: tf.Tensor
    counter: tf.Tensor


class JaxEnv(InGraphEnv):
    """N environments of the same task, truncated at its limit.

    XLA runs the functions of JAX in any case, so that the same numbers are drawn
    whether or not the graph around them is compiled.
    """

    compilable = True

    def __init__(self, task: JaxTask, name: str, num_envs: int, trusted: bool):
        """Check a task, and bring its functions into the graph.

        Args:
            task: with a limit to the length of its episodes.
            name: by which errors call it.
            num_envs: how many.
            trusted: whether its functions are known to be pure.

        Raises:
            SettingError: It is not as `JaxTask` says.
            EnvironmentFault: A function raised an error of its own.
        """
        super().__init__()
        self.num_envs = num_envs
        self.observation_space = task.observation_space
        self.action_space = task.action_space
        batch = Batch(task, checked_layout(task, name, trusted), num_envs)
        self._reset = _operation(batch.reset)
        self._step = _operation(batch.step)

    def reset(self, seed: tf.Tensor) -> tuple[JaxState, Nest]:
        """Start an episode in each environment."""
        seed = tf.convert_to_tensor(seed, tf.int32)
        arrays, observation = self._reset(seed)
        length = tf.zeros([self.num_envs], tf.int32)
        state = JaxState(tuple(arrays), length, seed, tf.constant(1, tf.int64))
        return state, self._observation(observation)

    def step(self, state: JaxState, action: tf.Tensor) -> tuple[JaxState, TimeStep]:
        """Step each environment, and start the next episode where one ended."""
        results = self._step(
            state.arrays,
            state.length,
            state.seed,
            tf.cast(state.counter, tf.int32),
            tf.cast(action, travel_dtype(self.action_space)),
        )
        time_step = TimeStep(
            observation=self._observation(results["observation"]),
            reward=results["reward"],
            terminated=results["terminated"],
            truncated=results["truncated"],
            final_observation=self._observation(results["final_observation"]),
            valid=tf.ones([self.num_envs], tf.bool),
        )
        state = JaxState(
            tuple(results["arrays"]),
            results["length"],
            state.seed,
            state.counter + 1,
        )
        return state, time_step

    def _observation(self, leaves: list[tf.Tensor]) -> Nest:
        # JAX has no 64-bit numbers by default, but spaces do.
        spaces = nests.leaf_spaces(self.observation_space)
        cast = [
            tf.cast(leaf, nests.leaf_dtype(space))
            for leaf, space in zip(leaves, spaces, strict=True)
        ]
        return nests.pack(self.observation_space, cast)


def _operation(function: Callable[..., Any]) -> Callable[..., Any]:
    # Lowered for a CPU, linear algebra calls the LAPACK of JAX, which TensorFlow does
    # not have; lowered for a TPU, it is made of operations of XLA that run anywhere.
    converted = jax2tf.convert(
        function,
        with_gradient=False,
        native_serialization_platforms=("tpu",),
        native_serialization_disabled_checks=(jax2tf.DisabledSafetyCheck.platform(),),
    )
    return tf.function(converted, autograph=False)
