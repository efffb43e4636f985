"""Counter-based randomness: every draw follows from the run's seed and a counter."""

import numpy as np
import tensorflow as tf


def fold(seed: tf.Tensor, counter: tf.Tensor | int) -> tf.Tensor:
    """Return a seed [2] int32 of its own for a counter [] of any integer type."""
    return tf.random.experimental.stateless_fold_in(
        seed, tf.cast(counter, tf.int32), alg="philox"
    )


def split(seed: tf.Tensor, count: int) -> tf.Tensor:
    """Return [count, 2] int32 independent seeds."""
    return tf.random.split(seed, count, alg="philox")


def integers(seed: int | list[int], count: int) -> list[int]:
    """Return `count` integers in [0, 2**31) that follow from a seed."""
    words = np.random.SeedSequence(seed).generate_state(count)
    return [int(word >> 1) for word in words]


def permutation(seed: tf.Tensor, count: int) -> tf.Tensor:
    """Return [count] int32, the numbers below `count` in random order.

    It is the swap-or-not shuffle (Hoang, Morris and Rogaway, CRYPTO 2012): in each
    round every number has a random partner, and a coin decides whether the two change
    places. Sorting random keys instead took XLA an eighth of an update.
    """
    rounds = 6 * max(count - 1, 1).bit_length()
    seeds = tf.unstack(split(seed, 2))
    sums = tf.random.stateless_uniform(
        [rounds], seeds[0], 0, count, tf.int32, alg="philox"
    )
    salts = tf.random.stateless_uniform(
        [rounds], seeds[1], None, None, tf.uint32, alg="philox"
    )

    def swap(index, numbers):
        partner = sums[index] - numbers
        partner += tf.where(partner < 0, count, 0)
        pair = tf.cast(tf.maximum(numbers, partner), tf.uint32)
        swapped = tf.cast(_mix(pair ^ salts[index]) & 1, tf.bool)
        return index + 1, tf.where(swapped, partner, numbers)

    _, numbers = tf.while_loop(
        lambda index, _: index < rounds,
        swap,
        (0, tf.range(count)),
        maximum_iterations=rounds,
    )
    return numbers


def _mix(word: tf.Tensor) -> tf.Tensor:
    """Return a hash [...] uint32 of words [...] uint32, by MurmurHash3's last step."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word ^= tf.bitwise.right_shift(word, tf.constant(shift, tf.uint32))
        word *= tf.constant(factor, tf.uint32)
    return word
