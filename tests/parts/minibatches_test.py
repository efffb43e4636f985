"""Minibatches and sequences."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts import minibatches


class DrawMinibatchesTest(unittest.TestCase):
    """Each sample once an epoch."""

    def test_each_sample_stands_once(self):
        drawn = minibatches.draw_minibatches(tf.constant([0, 1]), 12, 4)
        self.assertEqual(drawn.indices.shape, (3, 4))
        self.assertEqual(sorted(drawn.indices.numpy().ravel()), list(range(12)))
        self.assertTrue(np.all(drawn.used))

    def test_the_last_minibatch_is_padded(self):
        drawn = minibatches.draw_minibatches(tf.constant([0, 1]), 5, 4)
        np.testing.assert_array_equal(drawn.used, [[True] * 4, [True] + [False] * 3])
        used = drawn.indices.numpy()[drawn.used.numpy()]
        self.assertEqual(sorted(used), list(range(5)))

    def test_fewer_samples_than_a_minibatch(self):
        drawn = minibatches.draw_minibatches(tf.constant([0, 1]), 3, 8)
        self.assertEqual(drawn.indices.shape, (1, 8))
        self.assertEqual(int(np.sum(drawn.used)), 3)

    def test_the_order_follows_from_the_seed(self):
        first, second, third = (
            minibatches.draw_minibatches(tf.constant(seed), 64, 64).indices.numpy()
            for seed in ([0, 1], [0, 1], [0, 2])
        )
        self.assertTrue((first == second).all())
        self.assertFalse((first == third).all())


class SequencesTest(unittest.TestCase):
    """[time, batch] and back."""

    def test_cuts_each_environment_in_chunks_of_time(self):
        # Environment 0 holds 0 to 3, environment 1 holds 10 to 13.
        leaf = tf.constant([[0, 10], [1, 11], [2, 12], [3, 13]])
        cut = minibatches.to_sequences(leaf, 2)
        np.testing.assert_array_equal(cut, [[0, 1], [10, 11], [2, 3], [12, 13]])

    def test_is_undone(self):
        leaf = tf.reshape(tf.range(6 * 3 * 2), [6, 3, 2])
        for length in (1, 2, 3, 6):
            cut = minibatches.to_sequences({"leaf": leaf}, length)
            joined = minibatches.from_sequences(cut, 6)["leaf"]
            np.testing.assert_array_equal(joined, leaf)


if __name__ == "__main__":
    unittest.main()
