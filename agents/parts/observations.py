"""From raw observations to the float32 arrays that networks read."""

import math

import gymnasium
import numpy as np
import tensorflow as tf


def is_continuous(space: gymnasium.Space) -> bool:
    """Whether a leaf space has no natural scale: a Box that is no 8-bit image."""
    return isinstance(space, gymnasium.spaces.Box) and space.dtype != np.uint8


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


def _is_binary(space: gymnasium.Space) -> bool:
    return isinstance(space, gymnasium.spaces.MultiBinary)
