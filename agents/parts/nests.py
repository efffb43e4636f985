"""Nested values described by a Gymnasium space, without TensorFlow.

Worker processes lay out observations in shared memory by these functions, so the
order of leaves is the one of `tf.nest`: dictionaries by sorted key, tuples by position.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts.settings import SettingError

Leaf = (
    gymnasium.spaces.Box
    | gymnasium.spaces.Discrete
    | gymnasium.spaces.MultiDiscrete
    | gymnasium.spaces.MultiBinary
)
LEAF_NAMES = "Box, Discrete, MultiDiscrete and MultiBinary"


class UnsupportedSpace(SettingError):
    """A space that this library can not represent as arrays of fixed shape."""


def leaf_spaces(space: gymnasium.Space) -> list[gymnasium.Space]:
    """Return the leaves of a space in the order of `tf.nest`.

    Raises:
        UnsupportedSpace: A leaf has no fixed shape (Text, Graph, Sequence ...).
    """
    leaves: list[gymnasium.Space] = []
    map_space(leaves.append, space)
    if not leaves or any(0 in leaf.shape for leaf in leaves):
        raise UnsupportedSpace(
            f"The space {space} has nothing to observe or to choose."
        )
    return leaves


def map_space(function: Callable[[Any], Any], space: gymnasium.Space) -> Any:
    """Apply a function to each leaf space and return a nest of the results."""
    if isinstance(space, gymnasium.spaces.Dict):
        if len({type(key) for key in space}) > 1:
            raise UnsupportedSpace(
                f"The space {space} has keys of several types, which have no order."
            )
        return {key: map_space(function, space[key]) for key in sorted(space.keys())}
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(map_space(function, part) for part in space)
    if isinstance(space, Leaf):
        return function(space)
    raise UnsupportedSpace(
        f"The space {space} is not supported: use {LEAF_NAMES}, or Dict and Tuple of "
        "them."
    )


def flatten(space: gymnasium.Space, value: Any) -> list[Any]:
    """Return the leaves of a value of a space, in the order of `leaf_spaces`."""
    if isinstance(space, gymnasium.spaces.Dict):
        parts = ((space[key], value[key]) for key in sorted(space.keys()))
    elif isinstance(space, gymnasium.spaces.Tuple):
        parts = zip(space, value, strict=True)
    else:
        return [value]
    return [leaf for part, inner in parts for leaf in flatten(part, inner)]


def pack(space: gymnasium.Space, leaves: Sequence[Any]) -> Any:
    """Return the nest of a space that has the given leaves: `flatten` undone."""
    remaining = iter(leaves)
    return map_space(lambda _: next(remaining), space)


def leaf_dtype(space: gymnasium.Space) -> np.dtype:
    """Return the dtype in which a leaf travels: floats as float32, others as they are.

    This is the one cast of an observation; learning scales and encodes it later.
    """
    dtype = np.dtype(space.dtype)
    return np.dtype(np.float32) if dtype.kind == "f" else dtype
