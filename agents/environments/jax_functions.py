"""The functions of a `JaxTask` for N environments, on nothing but plain arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from agents.environments.jax_env import JaxTask
from agents.parts import nests


class Leaf(NamedTuple):
    """One array of a state.

    Attributes:
        path: where it is in the state, such as `state['count']`.
        shape: in one environment.
        dtype: of JAX, that of typed random keys included.
    """

    path: str
    shape: tuple[int, ...]
    dtype: Any


class Layout(NamedTuple):
    """How the states of a task are made up.

    Attributes:
        structure: the tree, as JAX describes it.
        leaves: its arrays, in the order of the tree.
    """

    structure: Any
    leaves: tuple[Leaf, ...]

    @classmethod
    def of(cls, state: Any) -> "Layout":
        """Return the layout of a state.

        Raises:
            TypeError: A leaf is no array.
        """
        paths, structure = jax.tree_util.tree_flatten_with_path(state)
        leaves = [
            Leaf(f"state{jax.tree_util.keystr(path)}", np.shape(leaf), dtype_of(leaf))
            for path, leaf in paths
        ]
        return cls(structure, tuple(leaves))

    def encode(self, state: Any) -> tuple[jax.Array, ...]:
        """Return a state as plain arrays, which TensorFlow can hold."""
        pairs = zip(jax.tree.leaves(state), self.leaves, strict=True)
        return tuple(_encode(value, leaf.dtype) for value, leaf in pairs)

    def decode(self, arrays: Sequence[jax.Array]) -> Any:
        """Return the state that `encode` made arrays of."""
        pairs = zip(arrays, self.leaves, strict=True)
        leaves = [_decode(array, leaf) for array, leaf in pairs]
        return jax.tree.unflatten(self.structure, leaves)


def dtype_of(value: Any) -> Any:
    """Return the dtype that JAX gives to a value.

    Raises:
        TypeError: It gives none.
    """
    dtype = getattr(value, "dtype", None)
    if dtype == jax.dtypes.float0 or is_key(dtype):
        return dtype
    return jnp.asarray(value).dtype


def is_key(dtype: Any) -> bool:
    """Return whether a dtype is the one of typed random keys."""
    return dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key)


def key_of(seed: jax.Array, counter: jax.Array | int) -> jax.Array:
    """Return a key for a seed [2] int32 and a counter [] int32."""
    words = jax.lax.bitcast_convert_type(seed, jnp.uint32)
    key = jax.random.wrap_key_data(words, impl="threefry2x32")
    return jax.random.fold_in(key, counter)


def travel_dtype(space: gymnasium.Space) -> np.dtype:
    """Return the dtype of an observation's or action's leaf within JAX."""
    return np.dtype(jax.dtypes.canonicalize_dtype(space.dtype))


class Batch:
    """N environments of a task, each function traceable by JAX.

    Observations are lists of leaves [N, ...] in the order of `nests.leaf_spaces`.
    """

    def __init__(self, task: JaxTask, layout: Layout, num_envs: int):
        """Make the functions; the task has a limit."""
        self._task = task
        self._layout = layout
        self._num_envs = num_envs

    def reset(self, seed: jax.Array) -> tuple[tuple[jax.Array, ...], list[jax.Array]]:
        """Start an episode in each environment.

        Args:
            seed: [2] int32.

        Returns:
            The states' arrays [N, ...], and the observation.
        """
        return self._start(key_of(seed, 0))

    def step(
        self,
        arrays: tuple[jax.Array, ...],
        length: jax.Array,
        seed: jax.Array,
        counter: jax.Array,
        action: jax.Array,
    ) -> dict[str, Any]:
        """Step each environment, and start the next episode where one ended.

        Args:
            arrays: the states, [N, ...].
            length: [N] int32, steps of the episodes so far.
            seed: [2] int32, as in `reset`.
            counter: [] int32, another one in each step, and not 0.
            action: [N, ...].

        Returns:
            `arrays` and `length` afterwards, and the fields of a `TimeStep`.
        """
        step_key, start_key = jax.random.split(key_of(seed, counter))
        keys = jax.random.split(step_key, self._num_envs)
        arrays, final, reward, terminated, truncated = jax.vmap(self._step_one)(
            arrays, action, keys
        )
        length = length + 1
        truncated = truncated | (length >= self._task.max_length)
        ended = terminated | truncated

        def restarted() -> Any:
            return jax.tree.map(
                lambda new, old: jnp.where(_fit(ended, new), new, old),
                self._start(start_key),
                (arrays, final),
            )

        # A start can cost as much as steps do, and most steps end no episode.
        arrays, observation = jax.lax.cond(
            jnp.any(ended), restarted, lambda: (arrays, final)
        )
        return {
            "arrays": arrays,
            "length": jnp.where(ended, 0, length),
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "final_observation": final,
        }

    def _start(self, key: jax.Array) -> tuple[tuple[jax.Array, ...], list[jax.Array]]:
        return jax.vmap(self._start_one)(jax.random.split(key, self._num_envs))

    def _start_one(self, key: jax.Array) -> tuple[Any, list[jax.Array]]:
        state, observation = self._task.reset(key)
        return self._layout.encode(state), self._observation(observation)

    def _step_one(
        self, arrays: tuple[jax.Array, ...], action: jax.Array, key: jax.Array
    ) -> tuple[Any, ...]:
        state, observation, reward, *flags = self._task.step(
            self._layout.decode(arrays), action, key
        )
        return (
            self._layout.encode(state),
            self._observation(observation),
            jnp.asarray(reward, jnp.float32),
            *(jnp.asarray(flag, bool) for flag in flags),
        )

    def _observation(self, observation: Any) -> list[jax.Array]:
        space = self._task.observation_space
        leaves = nests.flatten(space, observation)
        pairs = zip(leaves, nests.leaf_spaces(space), strict=True)
        return [
            jnp.asarray(
                leaf, jax.dtypes.canonicalize_dtype(nests.leaf_dtype(leaf_space))
            )
            for leaf, leaf_space in pairs
        ]


def _encode(value: Any, dtype: Any) -> jax.Array:
    if is_key(dtype):
        return jax.random.key_data(value)
    if dtype == jax.dtypes.float0:
        return jnp.zeros(np.shape(value), bool)
    # Names the dtype, so that it is no longer a weak one, which a step may change.
    return jnp.asarray(value, dtype)


def _decode(array: jax.Array, leaf: Leaf) -> Any:
    if is_key(leaf.dtype):
        return jax.random.wrap_key_data(array, dtype=leaf.dtype)
    if leaf.dtype == jax.dtypes.float0:
        return np.zeros(leaf.shape, jax.dtypes.float0)
    return array


def _fit(condition: jax.Array, array: jax.Array) -> jax.Array:
    return condition.reshape(condition.shape + (1,) * (array.ndim - 1))
