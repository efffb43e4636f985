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
