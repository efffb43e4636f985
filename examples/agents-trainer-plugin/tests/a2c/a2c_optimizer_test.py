"""The loss of A2C, worked out by hand."""

import unittest

import numpy as np
import tensorflow as tf

from agents_trainer_plugin.a2c import a2c_optimizer


class PolicyLossTest(unittest.TestCase):
    """Log-probabilities -1 and -2, advantages 3 and -0.5."""

    def test_is_the_negative_product(self):
        loss = a2c_optimizer.policy_loss(
            tf.constant([-1.0, -2.0]), tf.constant([3.0, -0.5])
        )
        np.testing.assert_array_equal(loss, [3, -1])

    def test_its_gradient_flows_through_the_probability_only(self):
        log_prob, advantage = tf.constant([-1.0, -2.0]), tf.constant([3.0, -0.5])
        with tf.GradientTape() as tape:
            tape.watch([log_prob, advantage])
            loss = a2c_optimizer.policy_loss(log_prob, advantage)
        gradients = tape.gradient(loss, [log_prob, advantage])
        np.testing.assert_array_equal(gradients[0], [-3, 0.5])
        self.assertIsNone(gradients[1])


if __name__ == "__main__":
    unittest.main()
