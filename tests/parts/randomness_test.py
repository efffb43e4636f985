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


class PermutationTest(unittest.TestCase):
    """Every order, each as often as the others."""

    def test_each_number_stands_once(self):
        for count in (1, 2, 3, 5, 31, 64, 100):
            order = randomness.permutation(tf.constant([3, 4]), count)
            np.testing.assert_array_equal(np.sort(order), np.arange(count))

    def test_orders_of_four_are_equally_frequent(self):
        """23 degrees of freedom: chi-square is above 52.6 once in 2,000 draws."""
        draws = 4800
        orders = self._draw(4, draws)
        _, counts = np.unique(orders, axis=0, return_counts=True)
        self.assertEqual(len(counts), 24)
        expected = draws / 24
        self.assertLess(((counts - expected) ** 2 / expected).sum(), 52.6)

    def test_each_pair_is_adjacent_equally_often(self):
        """239 degrees of freedom: chi-square is above 316 once in 2,000 draws."""
        orders = self._draw(16, 9600)
        pairs, counts = np.unique(orders[:, 0] * 16 + orders[:, 1], return_counts=True)
        self.assertEqual(len(pairs), 240)
        self.assertLess(((counts - 40) ** 2 / 40).sum(), 316)

    def _draw(self, count, draws):
        drawn = tf.function(
            lambda: tf.map_fn(
                lambda number: randomness.permutation(tf.stack([number, 7]), count),
                tf.range(draws),
            ),
            jit_compile=True,
        )
        return drawn().numpy()


if __name__ == "__main__":
    unittest.main()
