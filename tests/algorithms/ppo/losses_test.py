"""Losses worked out by hand."""

import math
import unittest

import numpy as np
import tensorflow as tf

from agents.algorithms.ppo import losses
from agents.parts.losses import weighted_mean


def constant(*values):
    """Make a vector of float32."""
    return tf.constant(values, tf.float32)


class LogRatioTest(unittest.TestCase):
    """How much likelier an action has become."""

    def test_is_the_difference_where_something_counts(self):
        ratio = losses.log_ratio_of(constant(-1, -2), constant(-3, 9), constant(1, 0))
        np.testing.assert_array_equal(ratio, [2, 0])

    def test_what_does_not_count_stays_finite_in_loss_and_gradient(self):
        """Where the ratio of a sample that was never drawn would be infinite."""
        log_prob = constant(-1, 500)
        with tf.GradientTape() as tape:
            tape.watch(log_prob)
            weights = constant(1, 0)
            ratio = losses.log_ratio_of(log_prob, constant(-1, 0), weights)
            loss = losses.surrogate_loss(ratio, constant(3, 0), 0.2)
            mean = weighted_mean(loss, weights)
        self.assertEqual(float(mean), -3)
        np.testing.assert_array_equal(tape.gradient(mean, log_prob), [-3, 0])


class SurrogateLossTest(unittest.TestCase):
    """Ratios 1, 2 and 0.5, range 0.2."""

    def loss(self, ratio, advantage, clip_range=0.2):
        """Compute the loss of one sample."""
        log_ratio = constant(math.log(ratio))
        loss = losses.surrogate_loss(log_ratio, constant(advantage), clip_range)
        return round(float(loss[0]), 5)

    def test_inside_of_the_range_it_is_the_ratio_times_the_advantage(self):
        self.assertEqual(self.loss(1.1, 3.0), -3.3)

    def test_nothing_more_is_gained_beyond_the_range(self):
        self.assertEqual(self.loss(2.0, 3.0), -3.6)
        self.assertEqual(self.loss(0.5, -3.0), 2.4)

    def test_what_went_wrong_is_felt_beyond_the_range(self):
        self.assertEqual(self.loss(2.0, -3.0), 6.0)
        self.assertEqual(self.loss(0.5, 3.0), -1.5)

    def test_without_a_range_nothing_is_clipped(self):
        self.assertEqual(self.loss(2.0, 3.0, None), -6.0)

    def test_no_gradient_beyond_the_range(self):
        log_ratio = constant(math.log(2.0))
        with tf.GradientTape() as tape:
            tape.watch(log_ratio)
            loss = losses.surrogate_loss(log_ratio, constant(3.0), 0.2)
        self.assertEqual(float(tape.gradient(loss, log_ratio)[0]), 0)


class PenaltyLossTest(unittest.TestCase):
    """Penalty 3, cutoff 0.2, coefficient 1000."""

    def loss(self, *divergence):
        """Compute the loss of some samples."""
        values = constant(*divergence)
        mean = tf.reduce_mean(values)
        return losses.penalty_loss(values, mean, tf.constant(3.0), 0.2, 1000.0)

    def test_is_the_weighted_divergence_below_the_cutoff(self):
        np.testing.assert_allclose(self.loss(0.1, 0.3), [0.3, 0.9], rtol=1e-6)

    def test_adds_the_squared_excess_of_the_mean(self):
        np.testing.assert_allclose(self.loss(0.3, 0.3), [10.9, 10.9], rtol=1e-5)


class AdaptedPenaltyTest(unittest.TestCase):
    """Penalty 3, target 0.1."""

    def test_follows_the_divergence(self):
        for divergence, expected in ((0.14, 4.5), (0.1, 3.0), (0.06, 2.0)):
            penalty = losses.adapted_penalty(
                tf.constant(3.0), tf.constant(divergence), 0.1
            )
            self.assertAlmostEqual(float(penalty), expected, 5)


if __name__ == "__main__":
    unittest.main()
