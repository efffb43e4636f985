"""Adam against values worked out by hand and against Keras."""

import unittest

import keras
import numpy as np
import tensorflow as tf

from agents.parts.optimizer import Adam

YES, NO = tf.constant(True), tf.constant(False)


class AdamTest(unittest.TestCase):
    """One variable of two numbers."""

    def setUp(self):
        self.variable = tf.Variable([1.0, 1.0])
        self.adam = Adam([self.variable])

    def test_the_first_step_is_the_learning_rate_against_the_gradient(self):
        self.adam.apply([tf.constant([5.0, -0.1])], tf.constant(0.25), YES)
        np.testing.assert_allclose(self.variable, [0.75, 1.25], atol=1e-3)

    def test_agrees_with_keras(self):
        theirs = tf.Variable([1.0, 1.0])
        reference = keras.optimizers.Adam(0.1, epsilon=1e-5)
        for step in range(20):
            gradient = tf.constant([np.sin(step), step - 5.0], tf.float32)
            self.adam.apply([gradient], tf.constant(0.1), YES)
            reference.apply_gradients([(gradient, theirs)])
        np.testing.assert_allclose(self.variable, theirs, rtol=1e-4)

    def test_a_step_that_is_withheld_changes_nothing(self):
        self.adam.apply([tf.constant([5.0, -0.1])], tf.constant(0.25), YES)
        before = [v.numpy() for v in self.adam.variables] + [self.variable.numpy()]
        self.adam.apply([tf.constant([1.0, np.nan])], tf.constant(0.25), NO)
        after = [v.numpy() for v in self.adam.variables] + [self.variable.numpy()]
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)
        self.assertEqual(int(self.adam.steps), 1)

    def test_long_gradients_are_cut_to_the_norm(self):
        free, cut = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
        norm = Adam([cut]).apply([tf.constant([3.0, 4.0])], 0.1, YES, max_norm=1e-5)
        Adam([free]).apply([tf.constant([6e-6, 8e-6])], 0.1, YES)
        self.assertAlmostEqual(float(norm), 5.0)
        np.testing.assert_allclose(cut, free, rtol=1e-4)

    def test_short_gradients_stay_as_they_are(self):
        free, cut = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
        Adam([cut]).apply([tf.constant([3e-6, 4e-6])], 0.1, YES, max_norm=1.0)
        Adam([free]).apply([tf.constant([3e-6, 4e-6])], 0.1, YES)
        np.testing.assert_allclose(cut, free)


if __name__ == "__main__":
    unittest.main()
