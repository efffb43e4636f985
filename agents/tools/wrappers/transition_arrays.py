"""The arrays through which a batch of transitions travels, in any memory."""

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts import nests
from agents.tools.faults import EnvironmentFault

_ALIGNMENT = 64
# What most environments return, told apart from arrays in a fraction of the time.
_NUMBER = (float, int, np.number)
_FLAG = (bool, np.bool_)


class Layout:
    """Shapes and types of the arrays of N environments, worked out once.

    Attributes:
        num_envs: N.
        size: bytes that the arrays take in one buffer.
    """

    def __init__(
        self,
        observation_space: gymnasium.Space,
        action_space: gymnasium.Space,
        num_envs: int,
    ):
        """Lay out the transitions of a batch of environments with these spaces."""
        self.num_envs = num_envs
        self.observation_space = observation_space
        self.leaves = len(nests.leaf_spaces(observation_space))
        self.is_leaf = isinstance(observation_space, nests.Leaf)
        self.arrays = _layout(observation_space, action_space, num_envs)
        self.size = sum(_padded_bytes(shape, dtype) for shape, dtype in self.arrays)


class TransitionArrays:
    """Actions, observations, rewards and flags of N environments, leaf by leaf.

    Attributes:
        observation: list of [N, ...], a leaf each in the order of `tf.nest`.
        final_observation: the same.
        reward: [N] float32.
        terminated: [N] bool.
        truncated: [N] bool.
        action: list of [N, ...].
    """

    def __init__(self, layout: Layout, memory: Any = None):
        """Place the arrays in a buffer of `layout.size` bytes, or in new memory."""
        if memory is None:
            arrays = [np.zeros(shape, dtype) for shape, dtype in layout.arrays]
        else:
            arrays = _carve(memory, layout.arrays)
        leaves = layout.leaves
        self.observation = arrays[:leaves]
        self.final_observation = arrays[leaves : 2 * leaves]
        self.reward, self.terminated, self.truncated = arrays[2 * leaves :][:3]
        self.action = arrays[2 * leaves + 3 :]
        self._observation_space = layout.observation_space
        self._is_leaf = layout.is_leaf
        self._shape = layout.observation_space.shape

    def write_observation(
        self, arrays: Sequence[np.ndarray], row: int, observation: Any
    ) -> None:
        """Copy the observation of one environment into a row.

        What is beyond the numbers of its dtype becomes infinite or wraps, with NumPy's
        warning: switch that off for all rows at once, as it takes as long as a copy.

        Raises:
            EnvironmentFault: The observation does not have the shape of its space, or
                its dtype can't hold the numbers.
        """
        if self._is_leaf and isinstance(observation, np.ndarray):
            array = arrays[0]
            given, own = observation.dtype, array.dtype
            castable = given is own or (own.kind == "f" and given.kind in "fiub")
            if castable and observation.shape == self._shape:
                array[row] = observation
                return
        self._write_leaves(arrays, row, observation)

    def _write_leaves(
        self, arrays: Sequence[np.ndarray], row: int, observation: Any
    ) -> None:
        try:
            leaves = nests.flatten(self._observation_space, observation)
        except (LookupError, TypeError, ValueError) as error:
            raise EnvironmentFault(
                [0],
                f"returned an observation that has not the structure of its space "
                f"{self._observation_space}: {error!r}",
            ) from error
        for array, leaf in zip(arrays, leaves, strict=True):
            leaf = np.asarray(leaf)
            if leaf.shape != array.shape[1:]:
                raise EnvironmentFault(
                    [0],
                    f"returned an observation of shape {leaf.shape}, but its space "
                    f"{self._observation_space} says {array.shape[1:]}",
                )
            array[row] = leaf
            if leaf.dtype == array.dtype or array.dtype.kind == "f":
                continue
            lost = leaf[array[row] != leaf]
            if lost.size:
                raise EnvironmentFault(
                    [0],
                    f"returned an observation with the number {lost.flat[0]}, but its "
                    f"space {self._observation_space} says {array.dtype}",
                )

    def write_outcome(
        self, row: int, reward: Any, terminated: Any, truncated: Any
    ) -> None:
        """Copy the reward and the two flags of one environment into a row.

        Raises:
            EnvironmentFault: One of them is no scalar of its kind.
        """
        if not isinstance(reward, _NUMBER) and not _is_scalar(reward, "fiub"):
            raise EnvironmentFault(
                [0], f"returned a reward that is no number: {reward!r}"
            )
        for flag in (terminated, truncated):
            if not isinstance(flag, _FLAG) and not _is_scalar(flag, "iub"):
                raise EnvironmentFault(
                    [0],
                    f"returned flags that are no booleans: terminated {terminated!r}, "
                    f"truncated {truncated!r}",
                )
        self.reward[row] = reward
        self.terminated[row] = terminated
        self.truncated[row] = truncated


def _is_scalar(value: Any, kinds: str) -> bool:
    array = np.asarray(value)
    return array.ndim == 0 and array.dtype.kind in kinds


def _layout(
    observation_space: gymnasium.Space, action_space: gymnasium.Space, num_envs: int
) -> list[tuple[tuple[int, ...], np.dtype]]:
    observations = [
        ((num_envs, *leaf.shape), nests.leaf_dtype(leaf))
        for leaf in nests.leaf_spaces(observation_space)
    ]
    outcome = [((num_envs,), np.dtype(dtype)) for dtype in (np.float32, bool, bool)]
    actions = [
        ((num_envs, *leaf.shape), np.dtype(leaf.dtype))
        for leaf in nests.leaf_spaces(action_space)
    ]
    return observations * 2 + outcome + actions


def _padded_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return -(-math.prod(shape) * dtype.itemsize // _ALIGNMENT) * _ALIGNMENT


def _carve(
    memory: Any, shapes: Sequence[tuple[tuple[int, ...], np.dtype]]
) -> list[np.ndarray]:
    arrays, offset = [], 0
    for shape, dtype in shapes:
        arrays.append(np.ndarray(shape, dtype, buffer=memory, offset=offset))
        offset += _padded_bytes(shape, dtype)
    return arrays
