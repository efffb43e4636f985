"""What losses of different algorithms are made of, as pure functions."""

import tensorflow as tf


def weighted_mean(values: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the mean [] of values [...] where weights [...] are not 0; else 0."""
    return tf.reduce_sum(values * weights) / tf.maximum(tf.reduce_sum(weights), 1e-8)


def normalize(advantage: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Bring advantages [...] to mean 0 and standard deviation 1 where weights are 1."""
    mean = weighted_mean(advantage, weights)
    variance = weighted_mean((advantage - mean) ** 2, weights)
    return (advantage - mean) / (tf.sqrt(variance) + 1e-8)


def squared_error(value: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Return half the squared difference [...] of values [...] and targets [...]."""
    return 0.5 * (value - target) ** 2
