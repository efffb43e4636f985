"""The mathematics of A2C, as a pure function."""

import tensorflow as tf


def policy_loss(log_prob: tf.Tensor, advantage: tf.Tensor) -> tf.Tensor:
    """Return -log_prob * advantage [...], whose gradient is that of the return.

    Args:
        log_prob: [...] float32, of the actions that were taken.
        advantage: [...] float32, through which no gradient flows.
    """
    return -log_prob * tf.stop_gradient(advantage)
