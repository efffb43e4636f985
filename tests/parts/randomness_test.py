"""Draws that follow from a seed and a counter."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts import randomness


class RandomnessTest(unittest.TestCase):
    """Seeds from seeds."""

    def test_each_counter_has_a_seed_of_its_own(self):
        seed = tf.constant([3, 4])
        seeds = {tuple(randomness.fold(seed, i).numpy()) for i in range(100)}
        self.assertEqual(len(seeds), 100)

    def test_folding_twice_depends_on_both_counters(self):
        seed = tf.constant([3, 4])
        seeds = {
            tuple(randomness.fold(randomness.fold(seed, i), j).numpy())
            for i in range(8)
            for j in range(8)
        }
        self.assertEqual(len(seeds), 64)

    def test_the_same_with_and_without_compilation(self):
        seed = tf.constant([3, 4])
        compiled = tf.function(randomness.fold, jit_compile=True)(seed, tf.constant(7))
        np.testing.assert_array_equal(compiled, randomness.fold(seed, 7))

    def test_integers_differ_by_place_and_by_seed(self):
        drawn = randomness.integers([0, 1], 4) + randomness.integers([0, 2], 4)
        self.assertEqual(len(set(drawn)), 8)
        self.assertTrue(all(0 <= number < 2**31 for number in drawn))


if __name__ == "__main__":
    unittest.main()
