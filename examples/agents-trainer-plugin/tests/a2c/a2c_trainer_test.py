"""A2C on a batch made by hand."""

import math
import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.on_policy import Batch, Behavior
from agents.parts.distributions import Categorical
from agents.scripts import networks
from agents_trainer_plugin.a2c import A2CSettings
from agents_trainer_plugin.a2c.a2c_trainer import A2C

OBSERVATIONS = gymnasium.spaces.Box(-1, 1, (2,))
ACTIONS = gymnasium.spaces.Discrete(4)


def make(**settings):
    """Build A2C with a network that says 0 to everything: each action has 1/4."""
    settings = A2CSettings(policy_layers=(), value_layers=(), **settings)
    algorithm = A2C(
        settings, OBSERVATIONS, ACTIONS, networks.feed_forward, num_envs=1, seed=0
    )
    for variable in algorithm.network.trainable_variables:
        variable.assign(tf.zeros_like(variable))
    return algorithm


def batch(weight=(1.0, 1.0)):
    """Return two samples: advantages 2 and 4, values to become 1 and 3."""

    def sequences(values, dtype=tf.float32):
        return tf.constant(values, dtype)[:, None]

    policy = Categorical(tf.zeros([2, 1, 1, 4]))
    sample = tf.constant([[[1]], [[3]]])
    return Batch(
        observation=tf.zeros([2, 1, 2]),
        reset=tf.zeros([2, 1], tf.bool),
        state=(),
        behavior=Behavior(sample, policy.log_prob(sample), policy),
        weight=sequences(weight),
        advantage=sequences([2.0, 4.0]),
        value_target=sequences([1.0, 3.0]),
    )


class LossTest(unittest.TestCase):
    """Log 4 times the advantages, half the squares 1 and 9, the entropy log 4."""

    def test_is_the_sum_of_its_weighted_parts(self):
        algorithm = make(value_coef=0.5, entropy_coef=0.1)
        loss, metrics = algorithm.loss(batch())
        self.assertAlmostEqual(float(metrics["policy_loss"]), 3 * math.log(4), 5)
        self.assertAlmostEqual(float(metrics["value_loss"]), 2.5, 5)
        self.assertAlmostEqual(float(metrics["entropy"]), math.log(4), 5)
        expected = 3 * math.log(4) + 0.5 * 2.5 - 0.1 * math.log(4)
        self.assertAlmostEqual(float(loss), expected, 5)

    def test_rows_without_weight_do_not_count(self):
        _, metrics = make().loss(batch(weight=(1.0, 0.0)))
        self.assertAlmostEqual(float(metrics["policy_loss"]), 2 * math.log(4), 5)
        self.assertAlmostEqual(float(metrics["value_loss"]), 0.5, 5)

    def test_a_step_makes_what_was_better_likelier(self):
        algorithm = make()
        gradients, _ = algorithm.optimizer.gradients(lambda: algorithm.loss(batch()))
        algorithm.optimizer.apply(gradients, 0.1, tf.constant(True), None)
        policy, _, _ = algorithm.network(tf.zeros([1, 2]), ())
        logits = np.ravel(policy.logits)
        self.assertGreater(min(logits[1], logits[3]), max(logits[0], logits[2]))


if __name__ == "__main__":
    unittest.main()
