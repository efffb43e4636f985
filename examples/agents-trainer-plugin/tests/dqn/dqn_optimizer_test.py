"""The mathematics of deep Q-learning, worked out by hand."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.distributions import IMPOSSIBLE, Categorical
from agents_trainer_plugin.dqn import dqn_optimizer

SEED = tf.constant([1, 2])


class ActionValuesTest(unittest.TestCase):
    """Logits 1, 2 and 6, value 10."""

    def values(self, logits, dueling):
        """Return the values of one observation."""
        policy = Categorical(tf.constant([[logits]]))
        values = dqn_optimizer.action_values(policy, tf.constant([10.0]), dueling)
        return values[0].numpy().tolist()

    def test_are_the_logits(self):
        self.assertEqual(self.values([1.0, 2.0, 6.0], False), [1, 2, 6])

    def test_dueling_they_differ_from_the_value_by_advantages_of_mean_0(self):
        self.assertEqual(self.values([1.0, 2.0, 6.0], True), [8, 9, 13])

    def test_what_a_mask_forbids_counts_for_nothing(self):
        """The mean of 1 and 6 is 3.5."""
        values = self.values([1.0, IMPOSSIBLE, 6.0], True)
        self.assertEqual(values, [7.5, np.float32(IMPOSSIBLE), 12.5])


class BootstrappedTargetTest(unittest.TestCase):
    """Rewards 1 and 1, discounts 0.5 and 0, values of next actions 4 and 8."""

    def target(self, choosing_values):
        """Return the targets of two transitions."""
        next_values = tf.constant([[4.0, 8.0], [4.0, 8.0]])
        target = dqn_optimizer.bootstrapped_target(
            tf.ones([2]), tf.constant([0.5, 0.0]), next_values, choosing_values
        )
        return target.numpy().tolist()

    def test_adds_the_greatest_value_unless_the_task_ended(self):
        self.assertEqual(self.target(tf.constant([[4.0, 8.0], [4.0, 8.0]])), [5, 1])

    def test_another_network_may_choose(self):
        self.assertEqual(self.target(tf.constant([[9.0, 8.0], [9.0, 8.0]])), [3, 1])


class HuberLossTest(unittest.TestCase):
    """Errors on both sides of 1."""

    def test_is_half_the_square_and_then_a_line(self):
        errors = tf.constant([0.0, 0.5, -1.0, 3.0, -3.0])
        np.testing.assert_array_equal(
            dqn_optimizer.huber_loss(errors), [0, 0.125, 0.5, 2.5, 2.5]
        )

    def test_its_gradient_is_at_most_1(self):
        errors = tf.constant([0.5, 3.0, -3.0])
        with tf.GradientTape() as tape:
            tape.watch(errors)
            loss = dqn_optimizer.huber_loss(errors)
        np.testing.assert_array_equal(tape.gradient(loss, errors), [0.5, 1, -1])


class ExploreTest(unittest.TestCase):
    """Ten thousand choices among three actions, of which the second is forbidden."""

    def shares(self, epsilon):
        """Return how often each action is chosen where 2 is the best."""
        values = tf.tile(tf.constant([[1.0, IMPOSSIBLE, 6.0]]), [10_000, 1])
        choice = tf.fill([10_000], 2)
        chosen = dqn_optimizer.explore(values, choice, tf.constant(epsilon), SEED)
        return np.bincount(chosen, minlength=3) / 10_000

    def test_never(self):
        np.testing.assert_array_equal(self.shares(0.0), [0, 0, 1])

    def test_always_any_that_is_allowed(self):
        np.testing.assert_allclose(self.shares(1.0), [0.5, 0, 0.5], atol=0.02)

    def test_sometimes(self):
        """Half of one in five is the other one."""
        np.testing.assert_allclose(self.shares(0.2), [0.1, 0, 0.9], atol=0.02)


if __name__ == "__main__":
    unittest.main()
