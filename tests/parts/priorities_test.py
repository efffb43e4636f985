"""Drawing in proportion to priorities."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.priorities import PriorityTree


def draws(tree, count=2000):
    """Return how often each index is drawn, as a share."""
    index, _ = tree.draw(tf.constant([1, 2]), count)
    return np.bincount(index, minlength=8) / count


class PriorityTreeTest(unittest.TestCase):
    """A few priorities among many places."""

    def test_draws_in_proportion(self):
        """An index for each equal share: exact up to one draw."""
        tree = PriorityTree(5)
        tree.set(tf.constant([0, 3, 4]), tf.constant([1.0, 2.0, 5.0]))
        np.testing.assert_allclose(
            draws(tree), [0.125, 0, 0, 0.25, 0.625, 0, 0, 0], atol=1e-3
        )

    def test_several_levels(self):
        """20,000 places take three levels of 128 children."""
        tree = PriorityTree(20_000)
        tree.set(tf.constant([7, 300, 19_999]), tf.constant([1.0, 1.0, 2.0]))
        index, priority = tree.draw(tf.constant([3, 4]), 8)
        np.testing.assert_array_equal(index, [7, 7, 300, 300] + [19_999] * 4)
        np.testing.assert_array_equal(priority, [1, 1, 1, 1, 2, 2, 2, 2])
        self.assertEqual(float(tree.total()), 4)

    def test_a_priority_that_changed_counts_anew_only(self):
        tree = PriorityTree(300)
        tree.set(tf.constant([1, 200]), tf.constant([9.0, 1.0]))
        tree.set(tf.constant([1, 1]), tf.constant([1.0, 1.0]))
        self.assertEqual(float(tree.total()), 2)
        self.assertEqual(draws(tree)[1], 0.5)

    def test_what_has_no_priority_is_never_drawn(self):
        tree = PriorityTree(1000)
        index = tf.range(0, 1000, 2)
        tree.set(index, tf.fill(index.shape, 0.1))
        drawn, _ = tree.draw(tf.constant([5, 6]), 5000)
        self.assertFalse(np.any(drawn.numpy() % 2))

    def test_without_any_priority_draws_are_worth_0(self):
        _, priority = PriorityTree(3).draw(tf.constant([1, 2]), 4)
        np.testing.assert_array_equal(priority, [0, 0, 0, 0])


if __name__ == "__main__":
    unittest.main()
