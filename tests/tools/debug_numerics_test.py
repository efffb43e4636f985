"""The operation that gave no number."""

import unittest

import tensorflow as tf

from agents.tools.debug_numerics import operations_checked
from agents.tools.faults import NumericFault


@tf.function(jit_compile=True, autograph=False)
def slope_of_root(number):
    """Return the gradient of the square root, infinite at 0."""
    with tf.GradientTape() as tape:
        tape.watch(number)
        root = tf.sqrt(number)
    return tape.gradient(root, number)


class OperationsCheckedTest(unittest.TestCase):
    """Of a compiled function, in its gradient."""

    def test_names_the_operation_and_the_line_that_called_it(self):
        with operations_checked():
            self.assertEqual(float(slope_of_root(tf.constant(4.0))), 0.25)
        message = '"SqrtGrad".*\n.*debug_numerics_test.py:.*: return tape.gradient'
        with self.assertRaisesRegex(NumericFault, message), operations_checked():
            slope_of_root(tf.constant(0.0))

    def test_afterwards_functions_are_compiled_again(self):
        with operations_checked():
            pass
        self.assertFalse(tf.config.functions_run_eagerly())
        self.assertEqual(float(slope_of_root(tf.constant(0.0))), float("inf"))

    def test_other_errors_stay_what_they_are(self):
        with self.assertRaises(tf.errors.InvalidArgumentError), operations_checked():
            tf.reshape(tf.zeros([3]), [2])


if __name__ == "__main__":
    unittest.main()
