"""Cutting a trajectory into sequences, and drawing minibatches of them."""

from typing import NamedTuple

import tensorflow as tf

from agents.parts import randomness
from agents.parts.trajectory import Nest


class Minibatches(NamedTuple):
    """One epoch's division of samples into minibatches.

    Attributes:
        indices: [minibatches, size] int32 into the samples.
        used: [minibatches, size] bool, false where the last minibatch is padded.
    """

    indices: tf.Tensor
    used: tf.Tensor


def draw_minibatches(seed: tf.Tensor, samples: int, size: int) -> Minibatches:
    """Divide `samples` at random into minibatches in which each stands exactly once.

    Args:
        seed: [2] int32.
        samples: how many there are.
        size: how many go in a minibatch; the last one is padded to it.
    """
    count = -(-samples // size)
    order = randomness.permutation(seed, samples)
    order = tf.pad(order, [[0, count * size - samples]])
    used = tf.range(count * size) < samples
    return Minibatches(
        tf.reshape(order, [count, size]), tf.reshape(used, [count, size])
    )


def to_sequences(nest: Nest, length: int) -> Nest:
    """Cut each leaf [time, batch, ...] into [time * batch / length, length, ...]."""

    def cut(leaf: tf.Tensor) -> tf.Tensor:
        time, batch, *rest = leaf.shape
        chunks = tf.reshape(leaf, [time // length, length, batch, *rest])
        order = [0, 2, 1, *range(3, 3 + len(rest))]
        return tf.reshape(tf.transpose(chunks, order), [-1, length, *rest])

    return tf.nest.map_structure(cut, nest)


def from_sequences(nest: Nest, time: int) -> Nest:
    """Put each leaf [sequences, length, ...] back into [time, batch, ...]."""

    def join(leaf: tf.Tensor) -> tf.Tensor:
        sequences, length, *rest = leaf.shape
        chunks = tf.reshape(leaf, [time // length, -1, length, *rest])
        order = [0, 2, 1, *range(3, 3 + len(rest))]
        return tf.reshape(
            tf.transpose(chunks, order), [time, sequences * length // time, *rest]
        )

    return tf.nest.map_structure(join, nest)
