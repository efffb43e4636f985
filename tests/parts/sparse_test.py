"""Functions of few rows, against the same function of all."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.sparse import map_where

ROWS = tf.reshape(tf.range(150, dtype=tf.float32), [50, 3])


def squares(condition):
    """Square the numbers of `ROWS` where the condition holds."""
    mapped = tf.function(
        lambda condition, rows: map_where(condition, lambda row: row * row, rows),
        jit_compile=True,
    )
    return mapped(tf.constant(condition), ROWS).numpy()


class MapWhereTest(unittest.TestCase):
    """No row, some, all; in one pass and in several."""

    def test_needed_rows_are_computed_and_others_are_0(self):
        for share in (0.0, 0.02, 0.4, 0.6, 1.0):
            condition = np.random.default_rng(0).random(ROWS.shape) < share
            expected = np.where(condition, ROWS * ROWS, 0)
            np.testing.assert_array_equal(squares(condition), expected)

    def test_the_same_without_compilation(self):
        condition = np.random.default_rng(1).random(ROWS.shape) < 0.5
        plain = map_where(tf.constant(condition), lambda row: row * row, ROWS)
        np.testing.assert_array_equal(plain, squares(condition))

    def test_rows_may_be_nests_with_dimensions_of_their_own(self):
        rows = (tf.ones([4, 2]), tf.reshape(tf.range(8.0), [4, 2]))
        condition = tf.constant([True, False, False, True])
        mapped = map_where(
            condition, lambda row: tf.reduce_sum(row[0] * row[1], -1), rows
        )
        np.testing.assert_array_equal(mapped, [1, 0, 0, 13])


if __name__ == "__main__":
    unittest.main()
