"""From what a policy draws to what an environment takes."""

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts.nests import UnsupportedSpace


def choice_counts(space: gymnasium.Space) -> list[int]:
    """Return the number of categories of each choice of a discrete action space.

    Raises:
        UnsupportedSpace: The space is not Discrete, MultiDiscrete or MultiBinary.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return [int(count) for count in np.ravel(space.nvec)]
    if isinstance(space, gymnasium.spaces.MultiBinary):
        return [2] * int(np.prod(space.shape))
    raise _unsupported(space)


def dimensions(space: gymnasium.Space) -> int:
    """Return the number of dimensions of a continuous action space.

    Raises:
        UnsupportedSpace: The space is no Box of floats.
    """
    if isinstance(space, gymnasium.spaces.Box) and np.dtype(space.dtype).kind == "f":
        return int(np.prod(space.shape))
    raise _unsupported(space)


def to_environment(
    space: gymnasium.Space, sample: tf.Tensor, normalize_ranges: bool
) -> tf.Tensor:
    """Return the action [batch, *shape] that a sample [batch, size] stands for.

    Continuous samples are clipped to the bounds. With `normalize_ranges`, [-1, 1] is
    stretched to the bounds first, in each dimension that has two finite ones.
    """
    if not isinstance(space, gymnasium.spaces.Box):
        sample = tf.cast(sample, tf.as_dtype(space.dtype))
        action = tf.reshape(sample, [-1, *space.shape])
        return action + tf.constant(getattr(space, "start", 0), action.dtype)
    # In the dtype of the bounds, or rounding would carry an action across them.
    action = tf.cast(tf.reshape(sample, [-1, *space.shape]), tf.as_dtype(space.dtype))
    low, high = space.low, space.high
    if normalize_ranges:
        both = np.isfinite(low) & np.isfinite(high)
        least = np.where(both, low, -1.0).astype(np.float64)
        most = np.where(both, high, 1.0).astype(np.float64)
        center, radius = most / 2 + least / 2, most / 2 - least / 2
        action = center.astype(space.dtype) + radius.astype(space.dtype) * action
    return tf.clip_by_value(action, low, high)


def _unsupported(space: gymnasium.Space) -> UnsupportedSpace:
    return UnsupportedSpace(
        f"The action space {space} is not supported: use a Box of floats, Discrete, "
        "MultiDiscrete or MultiBinary."
    )
