"""Log-probabilities, entropies and divergences worked out by hand."""

import math
import unittest

import numpy as np
import tensorflow as tf

from agents.parts.distributions import Categorical, Gaussian

SEED = tf.constant([1, 2])


def gaussian(mean, std):
    """Make a Gaussian from lists."""
    return Gaussian(tf.constant(mean), tf.math.log(tf.constant(std)))


class GaussianTest(unittest.TestCase):
    """Two dimensions, summed."""

    def test_log_prob(self):
        log_prob = gaussian([0.0, 1.0], [1.0, 2.0]).log_prob(tf.constant([1.0, 1.0]))
        expected = (-0.5 - 0.5 * math.log(2 * math.pi)) + (
            -math.log(2.0) - 0.5 * math.log(2 * math.pi)
        )
        self.assertAlmostEqual(float(log_prob), expected, 5)

    def test_entropy(self):
        entropy = gaussian([0.0, 0.0], [1.0, 2.0]).entropy()
        expected = math.log(2 * math.pi * math.e) + math.log(2.0)
        self.assertAlmostEqual(float(entropy), expected, 5)

    def test_divergence(self):
        # log(2 / 1) + (1 + 1) / (2 * 4) - 1 / 2
        divergence = gaussian([1.0], [1.0]).divergence(gaussian([0.0], [2.0]))
        self.assertAlmostEqual(float(divergence), math.log(2.0) + 0.25 - 0.5, 5)

    def test_divergence_is_never_negative(self):
        noise = tf.random.stateless_normal([1000, 3], SEED)
        near = Gaussian(noise, noise)
        divergence = near.divergence(Gaussian(noise + 1e-7, noise - 1e-7))
        self.assertGreaterEqual(float(tf.reduce_min(divergence)), 0.0)

    def test_samples_have_mean_and_deviation(self):
        sample = gaussian([[3.0, -1.0]] * 20_000, [[2.0, 0.5]] * 20_000).sample(SEED)
        np.testing.assert_allclose(np.mean(sample, 0), [3.0, -1.0], atol=0.05)
        np.testing.assert_allclose(np.std(sample, 0), [2.0, 0.5], rtol=0.03)

    def test_mode_is_the_mean(self):
        np.testing.assert_allclose(gaussian([3.0], [2.0]).mode(), [3.0])


class CategoricalTest(unittest.TestCase):
    """MultiDiscrete([3, 2]): two choices of 3 and 2 categories."""

    def setUp(self):
        probs = [0.5, 0.25, 0.25, 0.9, 0.1]
        self.policy = Categorical.from_flat(tf.math.log(tf.constant([probs])), [3, 2])

    def test_log_prob_is_the_sum_over_the_choices(self):
        log_prob = self.policy.log_prob(tf.constant([[2, 1]]))
        np.testing.assert_allclose(log_prob, [math.log(0.25 * 0.1)], rtol=1e-5)

    def test_entropy_is_the_sum_over_the_choices(self):
        first = 0.5 * math.log(2) + 0.5 * math.log(4)
        second = -0.9 * math.log(0.9) - 0.1 * math.log(0.1)
        np.testing.assert_allclose(self.policy.entropy(), [first + second], rtol=1e-5)

    def test_divergence(self):
        uniform = Categorical.from_flat(tf.zeros([1, 5]), [3, 2])
        expected = math.log(3) + math.log(2) - float(self.policy.entropy()[0])
        np.testing.assert_allclose(
            self.policy.divergence(uniform), [expected], rtol=1e-5
        )

    def test_mode(self):
        np.testing.assert_array_equal(self.policy.mode(), [[0, 0]])

    def test_samples_have_their_frequencies_and_never_a_missing_category(self):
        logits = tf.repeat(self.policy.logits, 20_000, 0)
        sample = Categorical(logits).sample(SEED).numpy()
        frequencies = [np.mean(sample[:, 0] == i) for i in range(3)]
        np.testing.assert_allclose(frequencies, [0.5, 0.25, 0.25], atol=0.02)
        frequencies = [np.mean(sample[:, 1] == i) for i in range(3)]
        np.testing.assert_allclose(frequencies, [0.9, 0.1, 0.0], atol=0.02)
        self.assertLess(sample[:, 1].max(), 2)

    def test_gradients_are_finite_beside_missing_categories(self):
        flat = tf.zeros([1, 5])
        with tf.GradientTape() as tape:
            tape.watch(flat)
            policy = Categorical.from_flat(flat, [3, 2])
            value = policy.entropy() + policy.log_prob(tf.constant([[0, 1]]))
        self.assertTrue(np.isfinite(tape.gradient(value, flat)).all())


if __name__ == "__main__":
    unittest.main()
