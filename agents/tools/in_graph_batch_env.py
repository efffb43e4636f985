"""A `BatchEnv` as a TensorFlow operation."""

from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts import nests
from agents.parts.trajectory import Nest, TimeStep, Trajectory
from agents.tools.batch_env import BatchEnv
from agents.tools.faults import EnvironmentFault
from agents.tools.in_graph_env import InGraphEnv


class InGraphBatchEnv(InGraphEnv):
    """Puts a batch of Python environments behind one `tf.numpy_function`.

    Its state counts the steps, to name the one that fails. The last step of a
    simulation can be read as tensors.

    Attributes:
        observation: nest of [N, ...], what to act on next.
        action: [N, ...], the last one.
        reward: [N] float32.
        terminated: [N] bool.
        truncated: [N] bool.
    """

    compilable = False

    def __init__(self, batch_env: BatchEnv):
        """Wrap a batch, which is closed with this object.

        Raises:
            UnsupportedSpace: The actions are a Dict or a Tuple.
        """
        super().__init__()
        if not isinstance(batch_env.action_space, nests.Leaf):
            raise nests.UnsupportedSpace(
                f"The action space {batch_env.action_space} is not supported: use "
                f"{nests.LEAF_NAMES}."
            )
        self._batch = batch_env
        self.num_envs = batch_env.num_envs
        self.observation_space = batch_env.observation_space
        self.action_space = batch_env.action_space
        self._specs = [
            tf.TensorSpec([self.num_envs, *leaf.shape], nests.leaf_dtype(leaf))
            for leaf in nests.leaf_spaces(self.observation_space)
        ]
        leaves = [self._variable(spec.shape, spec.dtype) for spec in self._specs]
        self.observation = nests.pack(self.observation_space, leaves)
        self.action = self._variable(
            [self.num_envs, *self.action_space.shape], self.action_space.dtype
        )
        self.reward = self._variable([self.num_envs], tf.float32)
        self.terminated = self._variable([self.num_envs], tf.bool)
        self.truncated = self._variable([self.num_envs], tf.bool)

    def reset(self, seed: tf.Tensor) -> tuple[Nest, Nest]:
        """Start an episode in each environment, with seeds that follow from `seed`."""
        leaves = self._call(self._reset, [seed], self._specs)
        return tf.constant(0, tf.int64), nests.pack(self.observation_space, leaves)

    def step(self, state: Nest, action: tf.Tensor) -> tuple[Nest, TimeStep]:
        """Step each environment; rewards and observations are checked to be finite."""
        # Each output of the operation costs 7 us, so that numbers travel together.
        numbers = tf.TensorSpec([3, self.num_envs], tf.float32)
        specs = [numbers, *self._specs * 2]
        outcome = self._call(self._step, [state, action], specs)
        reward, terminated, truncated = tf.unstack(outcome[0])
        leaves, count = outcome[1:], len(self._specs)
        return state + 1, TimeStep(
            observation=nests.pack(self.observation_space, leaves[:count]),
            reward=reward,
            terminated=tf.cast(terminated, tf.bool),
            truncated=tf.cast(truncated, tf.bool),
            final_observation=nests.pack(self.observation_space, leaves[count:]),
            valid=tf.ones([self.num_envs], tf.bool),
        )

    def remember(self, observation: Nest, rows: Trajectory) -> None:
        """Write the variables that show the last step."""
        tf.nest.map_structure(
            lambda variable, value: variable.assign(value),
            self.observation,
            observation,
        )
        for variable, values in (
            (self.action, rows.action),
            (self.reward, rows.reward),
            (self.terminated, rows.terminated),
            (self.truncated, rows.truncated),
        ):
            variable.assign(values[-1])

    def abort(self) -> None:
        """End the step that is under way, from any thread; the batch is lost."""
        self._batch.abort()

    def close(self) -> None:
        """Close the environments and their processes."""
        self._batch.close()

    def _variable(self, shape: Any, dtype: Any) -> tf.Variable:
        return tf.Variable(tf.zeros(shape, tf.as_dtype(dtype)), trainable=False)

    def _call(self, function: Any, inputs: list[Any], specs: list[Any]) -> list[Any]:
        def guarded(*arrays):
            try:
                return function(*arrays)
            except Exception as error:
                self.fault = error
                raise

        dtypes = [spec.dtype for spec in specs]
        # A single output comes as a tensor rather than as a list of one.
        outputs = tf.nest.flatten(tf.numpy_function(guarded, inputs, dtypes))
        for output, spec in zip(outputs, specs, strict=True):
            output.set_shape(spec.shape)
        return outputs

    def _reset(self, seed: np.ndarray) -> list[np.ndarray]:
        words = np.random.SeedSequence([int(word) & 0xFFFFFFFF for word in seed])
        seeds = [int(word >> 1) for word in words.generate_state(self.num_envs)]
        observation = self._batch.reset(seeds=seeds)
        leaves = nests.flatten(self.observation_space, observation)
        _check_finite("observation at reset", leaves, 0)
        return leaves

    def _step(self, steps: np.ndarray, action: np.ndarray) -> list[np.ndarray]:
        outcome = self._batch.step(action)
        observation, reward, terminated, truncated, infos = outcome
        leaves = nests.flatten(self.observation_space, observation)
        final = nests.flatten(self.observation_space, infos["final_observation"])
        step = int(steps) + 1
        _check_finite("reward", [reward], step)
        _check_finite("observation", final, step)
        _check_finite("observation at reset", leaves, step)
        numbers = np.array([reward, terminated, truncated], np.float32)
        return [numbers, *leaves, *final]


def _check_finite(quantity: str, leaves: list[np.ndarray], step: int) -> None:
    for leaf in leaves:
        if leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
            finite = np.isfinite(leaf).reshape(len(leaf), -1)
            index = int(np.argmin(finite.all(1)))
            value = leaf[index].reshape(-1)[np.argmin(finite[index])]
            raise EnvironmentFault(
                [index],
                f"gave the {quantity} {value} in step {step} after the batch "
                "was reset: observations and rewards must be finite numbers",
            )
