"""Running statistics, and what they normalize."""

from typing import NamedTuple

import gymnasium
import tensorflow as tf

from agents.parts import nests
from agents.parts import observations as encoding
from agents.parts.trajectory import Nest

EPSILON = 1e-8
CLIP = 10.0


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of what was seen so far.

    Attributes:
        count: [] float64.
        mean: [...] float64.
        squares: [...] float64.
    """

    count: tf.Tensor
    mean: tf.Tensor
    squares: tf.Tensor

    def variance(self) -> tf.Tensor:
        """Return the population variance [...] float64, 1 before the second sample."""
        count = tf.maximum(self.count, 1)
        variance = self.squares / count
        return tf.where(count > 1, variance, tf.ones_like(variance))


def add_samples(moments: Moments, samples: tf.Tensor, valid: tf.Tensor) -> Moments:
    """Merge a batch into the moments (Chan, Golub and LeVeque, 1979).

    Args:
        moments: of samples [...].
        samples: [time, batch, ...] of any float type.
        valid: [time, batch] bool; other rows do not count.
    """
    samples = tf.cast(samples, tf.float64)
    extra = samples.shape.rank - valid.shape.rank
    weight = tf.reshape(tf.cast(valid, tf.float64), valid.shape + [1] * extra)
    # A row that is no transition may hold anything, a NaN included.
    samples = tf.where(weight > 0, samples, 0.0)
    count = tf.reduce_sum(weight)
    mean = tf.reduce_sum(samples, [0, 1]) / tf.maximum(count, 1)
    squares = tf.reduce_sum(weight * (samples - mean) ** 2, [0, 1])
    total = moments.count + count
    share = count / tf.maximum(total, 1)
    delta = mean - moments.mean
    return Moments(
        total,
        moments.mean + delta * share,
        moments.squares + squares + delta**2 * moments.count * share,
    )


class RunningMoments(tf.Module):
    """Moments in variables, with the offset and scale that follow from them.

    Attributes:
        offset: [...] float32, the mean.
        scale: [...] float32, one over the standard deviation.
    """

    def __init__(self, shape: tuple[int, ...]):
        """Start from no samples of shape [*shape]."""
        super().__init__()
        self._moments = Moments(
            tf.Variable(tf.zeros((), tf.float64), name="count"),
            tf.Variable(tf.zeros(shape, tf.float64), name="mean"),
            tf.Variable(tf.zeros(shape, tf.float64), name="squares"),
        )
        # Derived, but read at each step, where computing them would cost as much as
        # a layer.
        self.offset = tf.Variable(tf.zeros(shape), name="offset")
        self.scale = tf.Variable(tf.ones(shape), name="scale")

    @property
    def count(self) -> tf.Tensor:
        """How many samples were seen, [] float64."""
        return self._moments.count

    def update(self, samples: tf.Tensor, valid: tf.Tensor) -> None:
        """Take in samples [time, batch, ...] where valid [time, batch] bool holds."""
        current = Moments(*(tf.convert_to_tensor(x) for x in self._moments))
        moments = add_samples(current, samples, valid)
        for variable, value in zip(self._moments, moments, strict=True):
            variable.assign(value)
        self.offset.assign(tf.cast(moments.mean, tf.float32))
        deviation = tf.sqrt(moments.variance() + EPSILON)
        self.scale.assign(tf.cast(1.0 / deviation, tf.float32))


class ObservationNormalizer(tf.Module):
    """Encodes observations, and brings continuous ones to mean 0 and deviation 1.

    One-hot codes, flags, images and action masks are left as they are encoded.
    """

    def __init__(self, space: gymnasium.Space, enabled: bool = True):
        """Start from no samples of a space; encode only, where not enabled."""
        super().__init__()
        self._leaves = nests.leaf_spaces(space)
        self._moments = [
            RunningMoments(leaf.shape)
            if enabled and encoding.is_continuous(leaf) and not is_mask
            else None
            for leaf, is_mask in zip(
                self._leaves, encoding.mask_leaves(space), strict=True
            )
        ]

    def __call__(self, observation: Nest) -> Nest:
        """Return the encoded observation, leaves [..., *shape] float32 in +-10."""
        leaves = tf.nest.flatten(observation)
        return tf.nest.pack_sequence_as(
            observation,
            [
                encoding.encode(space, leaf)
                if moments is None
                else tf.clip_by_value(
                    (tf.cast(leaf, tf.float32) - moments.offset) * moments.scale,
                    -CLIP,
                    CLIP,
                )
                for space, leaf, moments in zip(
                    self._leaves, leaves, self._moments, strict=True
                )
            ],
        )

    def update(self, observation: Nest, valid: tf.Tensor) -> None:
        """Take in observations [time, batch, ...] where valid [time, batch] holds."""
        for leaf, moments in zip(
            tf.nest.flatten(observation), self._moments, strict=True
        ):
            if moments is not None:
                moments.update(leaf, valid)
