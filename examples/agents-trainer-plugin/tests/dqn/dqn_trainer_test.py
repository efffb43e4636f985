"""DQN on transitions made by hand."""

import contextlib
import io
import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts.nests import UnsupportedSpace
from agents.parts.replay import Transitions
from agents.scripts import networks
from agents_trainer_plugin.dqn import DQNSettings
from agents_trainer_plugin.dqn.dqn_trainer import DQN

OBSERVATIONS = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
ACTIONS = gymnasium.spaces.Discrete(3)
# An observation of zeros is worth this much by each action, and on the whole.
VALUES, TARGET_VALUES, WHOLE = [1.0, 2.0, 6.0], [4.0, 8.0, 0.0], 10.0


def make(actions=ACTIONS, **settings):
    """Build DQN whose networks return their biases, which are not the same."""
    settings = {
        "policy_layers": (),
        "value_layers": (),
        "replay_capacity": 8,
    } | settings
    with contextlib.redirect_stderr(io.StringIO()):
        algorithm = DQN(
            DQNSettings(learning_starts=1, **settings),
            OBSERVATIONS,
            actions,
            networks.feed_forward,
            num_envs=1,
            seed=0,
        )
    for network, values in (
        (algorithm.network, VALUES),
        (algorithm.target_network, TARGET_VALUES),
    ):
        for variable in network.trainable_variables:
            bias = {(3,): values, (1,): [WHOLE]}.get(tuple(variable.shape), 0.0)
            variable.assign(tf.broadcast_to(bias, variable.shape))
    return algorithm


def transitions(action=1):
    """Return one transition with the reward 1 and the discount 0.5."""
    return Transitions(
        observation=tf.zeros([1, 2]),
        action=tf.constant([action], tf.int64),
        reward=tf.ones([1]),
        discount=tf.constant([0.5]),
        next_observation=tf.zeros([1, 2]),
        weight=tf.ones([1]),
        index=tf.zeros([1], tf.int32),
    )


class TargetTest(unittest.TestCase):
    """Action 2 is best by the network, action 1 by its copy."""

    def target(self, **settings):
        """Return the target of the transition."""
        return float(make(**settings).target(transitions())[0])

    def test_double_the_network_chooses_and_its_copy_values(self):
        self.assertEqual(self.target(double=True), 1 + 0.5 * 0)

    def test_otherwise_the_copy_does_both(self):
        self.assertEqual(self.target(double=False), 1 + 0.5 * 8)

    def test_dueling_values_are_advantages_over_the_whole(self):
        """Their mean is 4, so that the best is worth 10 + 8 - 4."""
        self.assertEqual(self.target(double=False, dueling=True), 1 + 0.5 * 14)


class LossTest(unittest.TestCase):
    """The value 2 is to become 5."""

    def check(self, algorithm, action):
        """Compare the loss of the action whose value is 2."""
        losses = algorithm.loss(transitions(action), tf.constant([5.0]))
        self.assertEqual(float(losses.error[0]), 3)
        self.assertEqual(float(losses.loss[0]), 2.5)
        self.assertEqual(float(losses.metrics["value"][0]), 2)

    def test_is_that_of_the_action_that_was_taken(self):
        self.check(make(), 1)

    def test_actions_may_start_elsewhere(self):
        self.check(make(gymnasium.spaces.Discrete(3, start=-1)), 0)


class PerformTest(unittest.TestCase):
    """The best action is 2."""

    def actions(self, algorithm, training):
        """Return 100 actions."""
        decision = algorithm.perform(
            tf.zeros([100, 2]), (), tf.constant([1, 2]), training
        )
        return set(decision.action.numpy().tolist())

    def test_takes_any_in_training_and_the_best_otherwise(self):
        algorithm = make(initial_epsilon=1.0)
        self.assertEqual(self.actions(algorithm, True), {0, 1, 2})
        self.assertEqual(self.actions(algorithm, False), {2})

    def test_actions_may_start_elsewhere(self):
        algorithm = make(gymnasium.spaces.Discrete(3, start=7))
        self.assertEqual(self.actions(algorithm, False), {9})
        self.assertEqual(self.actions(algorithm, True), {7, 8, 9})

    def test_explores_less_as_training_goes_on(self):
        """From 1 to 0.2 in half of the run."""
        settings = {"final_epsilon": 0.2, "exploration_share": 0.5}
        for progress, epsilon in ((0.0, 1.0), (0.25, 0.6), (0.5, 0.2), (1.0, 0.2)):
            metrics = make(**settings).finish({}, tf.constant(progress))
            self.assertAlmostEqual(float(metrics["epsilon"]), epsilon, 5)

    def test_what_is_no_single_choice_is_an_error(self):
        with self.assertRaisesRegex(
            UnsupportedSpace, r"DQN needs a Discrete action space, but got Box\("
        ):
            make(gymnasium.spaces.Box(-1, 1, (2,)))


if __name__ == "__main__":
    unittest.main()
