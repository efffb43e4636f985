"""From raw observations to the float32 arrays that networks read.

In a Dict, an entry `action_mask` is no observation: it says which discrete actions are
allowed, by a number for each, above 0 for those that are.
"""

import math

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts import nests
from agents.parts.trajectory import Nest

MASK = "action_mask"


def without_mask(space: gymnasium.Space) -> gymnasium.Space:
    """Return the space of observations less their action mask, if there is one."""
    if not isinstance(space, gymnasium.spaces.Dict) or MASK not in space.spaces:
        return space
    rest = {key: part for key, part in space.spaces.items() if key != MASK}
    return gymnasium.spaces.Dict(rest)


def split_mask(
    space: gymnasium.Space, observation: Nest
) -> tuple[Nest, tf.Tensor | None]:
    """Return an encoded observation of a space without its action mask, and the mask.

    The mask is [..., size] float32, all of its leaves one after the other; None where
    there is none.

    Raises:
        UnsupportedSpace: The mask is no array of numbers.
    """
    if not isinstance(space, gymnasium.spaces.Dict) or MASK not in space.spaces:
        return observation, None
    rest = {key: value for key, value in observation.items() if key != MASK}
    spaces = nests.leaf_spaces(space[MASK])
    for leaf in spaces:
        if not isinstance(leaf, (gymnasium.spaces.Box, gymnasium.spaces.MultiBinary)):
            raise nests.UnsupportedSpace(
                f"The entry {MASK!r} of observations must be MultiBinary, a Box, or a "
                f"Tuple of them, but is {space[MASK]}."
            )
    return rest, concatenate(tf.nest.flatten(observation[MASK]), spaces)


def mask_leaves(space: gymnasium.Space) -> list[bool]:
    """Return for each leaf whether it is part of the action mask."""
    if not isinstance(space, gymnasium.spaces.Dict):
        return [False] * len(nests.leaf_spaces(space))
    return [
        key == MASK
        for key in sorted(space.keys())
        for _ in nests.leaf_spaces(space[key])
    ]


def is_continuous(space: gymnasium.Space) -> bool:
    """Whether a leaf space has no natural scale: a Box that is no scaled image."""
    return isinstance(space, gymnasium.spaces.Box) and not (
        space.dtype == np.uint8 or (is_image(space) and _is_scaled(space))
    )


def is_image(space: gymnasium.Space) -> bool:
    """Whether a leaf space is a Box of rank 3, or one of bytes and of rank 2."""
    if not isinstance(space, gymnasium.spaces.Box):
        return False
    return len(space.shape) == 3 or (len(space.shape) == 2 and space.dtype == np.uint8)


def image_size(space: gymnasium.Space) -> tuple[int, int]:
    """Return height and width of an image."""
    if len(space.shape) == 2:
        return space.shape
    return space.shape[1:] if _channels_come_first(space) else space.shape[:2]


def channels_last(space: gymnasium.Space, images: tf.Tensor) -> tf.Tensor:
    """Return images [batch, *shape] as [batch, height, width, channels].

    Channels are the first or the last dimension: the one that the other two, if they
    are equal, leave over; otherwise the smaller one.
    """
    if len(space.shape) == 2:
        return images[..., None]
    if _channels_come_first(space):
        return tf.transpose(images, [0, 2, 3, 1])
    return images


def encoded_shape(space: gymnasium.Space) -> tuple[int, ...]:
    """Return the shape of one encoded observation of a leaf space."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return (int(space.n),)
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return (int(np.sum(space.nvec)),)
    return tuple(space.shape)


def encode(space: gymnasium.Space, leaf: tf.Tensor) -> tf.Tensor:
    """Return a leaf [..., *shape] as [..., *encoded_shape(space)] float32.

    Discrete values become one-hot, 8-bit images are scaled to [0, 1], the rest is cast.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return tf.one_hot(leaf - int(space.start), int(space.n))
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return _encode_choices(space, leaf)
    scale = 255.0 if space.dtype == np.uint8 and not _is_binary(space) else 1.0
    return tf.cast(leaf, tf.float32) / scale


def concatenate(
    observation: list[tf.Tensor], spaces: list[gymnasium.Space]
) -> tf.Tensor:
    """Return encoded leaves as one vector [..., size] float32 for dense networks."""
    flat = []
    for leaf, space in zip(observation, spaces, strict=True):
        shape = encoded_shape(space)
        leading = tf.shape(leaf)[: leaf.shape.rank - len(shape)]
        flat.append(tf.reshape(leaf, tf.concat([leading, [math.prod(shape)]], 0)))
    return tf.concat(flat, -1)


def _encode_choices(
    space: gymnasium.spaces.MultiDiscrete, leaf: tf.Tensor
) -> tf.Tensor:
    counts = [int(count) for count in np.ravel(space.nvec)]
    first = tf.constant(np.asarray(space.start), leaf.dtype)
    rank = leaf.shape.rank - len(space.shape)
    values = tf.reshape(
        leaf - first, tf.concat([tf.shape(leaf)[:rank], [len(counts)]], 0)
    )
    codes = [tf.one_hot(values[..., i], count) for i, count in enumerate(counts)]
    return tf.concat(codes, -1)


def _channels_come_first(space: gymnasium.Space) -> bool:
    first, second, third = space.shape
    if second in (first, third):
        return first != second
    return first < third


def _is_scaled(space: gymnasium.Space) -> bool:
    return bool(np.all(space.low >= 0) and np.all(space.high <= 1))


def _is_binary(space: gymnasium.Space) -> bool:
    return isinstance(space, gymnasium.spaces.MultiBinary)
