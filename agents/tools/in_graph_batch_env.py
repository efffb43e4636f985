"""A `BatchEnv` as a TensorFlow operation."""

from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts import nests
from agents.parts.trajectory import Nest, TimeStep, Trajectory
from agents.tools.batch_env import BatchEnv
from agents.tools.in_graph_env import InGraphEnv
from agents.tools.step_checks import StepChecks, check_finite


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
        self._checks = StepChecks(batch_env.observation_space)
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
        """Step each environment; rewards and observations are checked."""
        # Each output of the operation costs 7 us, so that numbers travel together.
        numbers = tf.TensorSpec([4, self.num_envs], tf.float32)
        specs = [numbers, *self._specs * 2]
        outcome = self._call(self._step, [state, action], specs)
        reward, *flags = tf.unstack(outcome[0])
        terminated, truncated, valid = (tf.cast(flag, tf.bool) for flag in flags)
        leaves, count = outcome[1:], len(self._specs)
        return state + 1, TimeStep(
            observation=nests.pack(self.observation_space, leaves[:count]),
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            final_observation=nests.pack(self.observation_space, leaves[count:]),
            valid=valid,
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

    @property
    def restarts(self) -> int | None:
        """How many workers were started again; None where none ever is."""
        return self._batch.restarts

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
        self._checks.observation(leaves, 0, " at reset")
        return leaves

    def _step(self, steps: np.ndarray, action: np.ndarray) -> list[np.ndarray]:
        outcome = self._batch.step(action)
        observation, reward, terminated, truncated, infos = outcome
        leaves = nests.flatten(self.observation_space, observation)
        final = nests.flatten(self.observation_space, infos["final_observation"])
        step = int(steps) + 1
        check_finite("reward", reward, step)
        self._checks.observation(final, step)
        if (terminated | truncated).any():
            self._checks.observation(leaves, step, " at reset")
        flags = (terminated, truncated, infos["valid"])
        numbers = np.array([reward, *flags], np.float32)
        return [numbers, *leaves, *final]
