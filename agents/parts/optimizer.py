"""The optimizer step, as part of the graph."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


class Adam(tf.Module):
    """Adam (Kingma and Ba, arXiv:1412.6980), whose steps can be withheld by a tensor.

    Unlike Keras's it takes all variables through one array, which saves XLA a tenth of
    an update, and a withheld step leaves moments and counter as they were.
    """

    def __init__(
        self,
        variables: Sequence[tf.Variable],
        decay_mean: float = 0.9,
        decay_square: float = 0.999,
        epsilon: float = 1e-5,
    ):
        """Keep two float32 slots for each number of the variables."""
        super().__init__()
        self._variables = list(variables)
        self._decays = (decay_mean, decay_square)
        self._epsilon = epsilon
        self._sizes = [variable.shape.num_elements() for variable in variables]
        slots = tf.zeros([sum(self._sizes)])
        self.steps = tf.Variable(0, dtype=tf.int64, name="steps")
        self._mean = tf.Variable(slots, name="mean")
        self._square = tf.Variable(slots, name="square")

    def gradients(
        self, loss: Callable[[], tuple[tf.Tensor, Any]]
    ) -> tuple[list[tf.Tensor], Any]:
        """Return the gradients of a loss, one for each variable.

        Args:
            loss: returns the loss [] float32, and whatever else came of it.

        Returns:
            Gradients of the shapes of the variables, 0 for those that the loss does not
            depend on; what else came of it.
        """
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(self._variables)
            value, rest = loss()
        zero = tf.UnconnectedGradients.ZERO
        return tape.gradient(value, self._variables, unconnected_gradients=zero), rest

    def apply(
        self,
        gradients: Sequence[tf.Tensor],
        learning_rate: tf.Tensor,
        enabled: tf.Tensor,
        max_norm: float | None = None,
    ) -> tf.Tensor:
        """Take one step down the gradients, or none at all.

        Args:
            gradients: one of its shape for each variable.
            learning_rate: [] float32.
            enabled: [] bool; where false, nothing changes.
            max_norm: length to which longer gradients are cut, over all variables
                together; None: none.

        Returns:
            The length [] float32 of the gradients before that.
        """
        gradient = tf.concat([tf.reshape(part, [-1]) for part in gradients], 0)
        norm = tf.sqrt(tf.reduce_sum(gradient**2))
        if max_norm is not None:
            gradient *= max_norm / tf.maximum(norm, max_norm)
        decay_mean, decay_square = self._decays
        steps = self.steps + 1
        count = tf.cast(steps, tf.float32)
        correction = tf.sqrt(1.0 - decay_square**count) / (1.0 - decay_mean**count)
        mean = decay_mean * self._mean + (1.0 - decay_mean) * gradient
        square = decay_square * self._square + (1.0 - decay_square) * gradient**2
        step = learning_rate * correction * mean / (tf.sqrt(square) + self._epsilon)
        self._mean.assign(tf.where(enabled, mean, self._mean))
        self._square.assign(tf.where(enabled, square, self._square))
        self.steps.assign(tf.where(enabled, steps, self.steps))
        parts = tf.split(tf.where(enabled, step, 0.0), self._sizes)
        for variable, part in zip(self._variables, parts, strict=True):
            variable.assign_sub(tf.reshape(part, variable.shape))
        return norm
