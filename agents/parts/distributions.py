"""Action distributions as nests of tensors, so that they travel through loops.

Leading dimensions are free: `[..., size]` may be [batch, size] or [time, batch, size].
Log-probabilities, entropies and divergences are in nats and sum over the last axes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

# Stays finite in sums and products where a true infinity would turn into a NaN.
IMPOSSIBLE = -1e9


class Gaussian(NamedTuple):
    """Independent normal distributions.

    Attributes:
        mean: [..., size] float32.
        log_std: [..., size] float32.
    """

    mean: tf.Tensor
    log_std: tf.Tensor

    def sample(self, seed: tf.Tensor) -> tf.Tensor:
        """Draw one sample [..., size] float32 from a seed [2] int32."""
        noise = tf.random.stateless_normal(tf.shape(self.mean), seed, alg="philox")
        return self.mean + tf.exp(self.log_std) * noise

    def mode(self) -> tf.Tensor:
        """Return the most likely value, [..., size] float32."""
        return self.mean

    def log_prob(self, sample: tf.Tensor) -> tf.Tensor:
        """Return the log density [...] of a sample [..., size]."""
        distance = (sample - self.mean) * tf.exp(-self.log_std)
        constant = 0.5 * math.log(2.0 * math.pi)
        return tf.reduce_sum(-0.5 * distance**2 - self.log_std - constant, -1)

    def entropy(self) -> tf.Tensor:
        """Return the differential entropy [...]."""
        constant = 0.5 * math.log(2.0 * math.pi * math.e)
        return tf.reduce_sum(self.log_std + constant, -1)

    def divergence(self, other: "Gaussian") -> tf.Tensor:
        """Return KL(self || other) [...], never negative."""
        variance_ratio = tf.exp(2.0 * (self.log_std - other.log_std))
        distance = ((self.mean - other.mean) * tf.exp(-other.log_std)) ** 2
        terms = 0.5 * (variance_ratio + distance - 1.0) + other.log_std - self.log_std
        return tf.maximum(tf.reduce_sum(terms, -1), 0.0)


class Categorical(NamedTuple):
    """Independent choices, each among its own number of categories.

    Attributes:
        logits: [..., choices, categories] float32, `IMPOSSIBLE` beyond the categories
            that a choice has.
    """

    logits: tf.Tensor

    @classmethod
    def from_flat(cls, logits: tf.Tensor, counts: Sequence[int]) -> "Categorical":
        """Cut logits [..., sum(counts)] into one choice for each count."""
        most = max(counts)
        padded = [
            tf.pad(
                part,
                [[0, 0]] * (part.shape.rank - 1) + [[0, most - count]],
                constant_values=IMPOSSIBLE,
            )
            for part, count in zip(tf.split(logits, counts, -1), counts, strict=True)
        ]
        return cls(tf.stack(padded, -2))

    def sample(self, seed: tf.Tensor) -> tf.Tensor:
        """Draw one sample [..., choices] int32 from a seed [2] int32."""
        # The largest of logits plus Gumbel noise is a sample of their softmax.
        uniform = tf.random.stateless_uniform(
            tf.shape(self.logits), seed, minval=1e-20, alg="philox"
        )
        # Where every category is masked, logits are too large to add noise to.
        return self._argmax(self._log_probs() - tf.math.log(-tf.math.log(uniform)))

    def mode(self) -> tf.Tensor:
        """Return the most likely value, [..., choices] int32."""
        return self._argmax(self.logits)

    def log_prob(self, sample: tf.Tensor) -> tf.Tensor:
        """Return the log-probability [...] of a sample [..., choices] int32."""
        chosen = tf.one_hot(sample, self.logits.shape[-1])
        return tf.reduce_sum(chosen * self._log_probs(), [-2, -1])

    def entropy(self) -> tf.Tensor:
        """Return the entropy [...]."""
        log_probs = self._log_probs()
        return -tf.reduce_sum(tf.exp(log_probs) * log_probs, [-2, -1])

    def divergence(self, other: "Categorical") -> tf.Tensor:
        """Return KL(self || other) [...], never negative."""
        log_probs = self._log_probs()
        # pylint: disable-next=protected-access
        terms = tf.exp(log_probs) * (log_probs - other._log_probs())
        return tf.maximum(tf.reduce_sum(terms, [-2, -1]), 0.0)

    def _log_probs(self) -> tf.Tensor:
        return tf.nn.log_softmax(self.logits)

    @staticmethod
    def _argmax(scores: tf.Tensor) -> tf.Tensor:
        return tf.argmax(scores, -1, output_type=tf.int32)


Distribution = Gaussian | Categorical
