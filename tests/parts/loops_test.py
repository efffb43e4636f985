"""Loops that stack their rows."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.loops import scan


def doubling(carry, step):
    """Double a number, and hand out the old one."""
    return 2 * carry, {"before": carry, "step": step}


class ScanTest(unittest.TestCase):
    """Powers of two."""

    def test_rows_are_stacked(self):
        carry, rows = scan(doubling, tf.constant([1, 3]), 3)
        np.testing.assert_array_equal(carry, [8, 24])
        np.testing.assert_array_equal(rows["before"], [[1, 3], [2, 6], [4, 12]])
        np.testing.assert_array_equal(rows["step"], [0, 1, 2])

    def test_rows_from_the_count_on_are_0(self):
        for compiled in (True, False):
            function = tf.function(
                lambda count: scan(doubling, tf.constant(1), 4, count),
                jit_compile=compiled,
            )
            carry, rows = function(tf.constant(2))
            self.assertEqual(int(carry), 4)
            np.testing.assert_array_equal(rows["before"], [1, 2, 0, 0])

    def test_the_body_is_traced_once(self):
        traced = []

        def body(carry, _):
            traced.append(carry)
            return carry + 1, carry

        tf.function(lambda: scan(body, tf.constant(0), 5), autograph=False)()
        self.assertEqual(len(traced), 1)


if __name__ == "__main__":
    unittest.main()
