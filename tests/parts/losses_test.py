"""Parts of losses, worked out by hand."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts import losses


def constant(*values):
    """Make a vector of float32."""
    return tf.constant(values, tf.float32)


class WeightedMeanTest(unittest.TestCase):
    """Means over what counts."""

    def test_leaves_out_what_has_no_weight(self):
        mean = losses.weighted_mean(constant(1, 2, 600), constant(1, 1, 0))
        self.assertAlmostEqual(float(mean), 1.5)

    def test_is_0_where_nothing_counts(self):
        self.assertEqual(float(losses.weighted_mean(constant(5), constant(0))), 0)


class NormalizeTest(unittest.TestCase):
    """Advantages of mean 0 and deviation 1."""

    def test_normalizes_by_what_counts(self):
        normalized = losses.normalize(constant(1, 3, 99), constant(1, 1, 0))
        np.testing.assert_allclose(normalized[:2], [-1, 1], rtol=1e-6)

    def test_one_sample_is_0_and_not_infinite(self):
        np.testing.assert_array_equal(
            losses.normalize(constant(7, 0), constant(1, 0))[:1], [0]
        )

    def test_equal_samples_are_0(self):
        normalized = losses.normalize(constant(7, 7), constant(1, 1))
        np.testing.assert_array_equal(normalized, [0, 0])


class SquaredErrorTest(unittest.TestCase):
    """Half the squared error."""

    def test_half_the_squared_error(self):
        loss = losses.squared_error(constant(1, 5), constant(3, 5))
        np.testing.assert_allclose(loss, [2, 0])


if __name__ == "__main__":
    unittest.main()
