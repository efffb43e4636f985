"""Networks by their initial outputs and states."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.settings import SettingError
from agents.scripts import networks, training

OBSERVATIONS = gymnasium.spaces.Dict(
    {
        "image": gymnasium.spaces.Box(0, 255, (2, 2), np.uint8),
        "number": gymnasium.spaces.Box(-1, 1, ()),
    }
)
ACTIONS = gymnasium.spaces.Box(-1, 1, (3,))
SETTINGS = PPOSettings(policy_layers=(8, 6), value_layers=(4,), init_std=0.5)


def observation(*leading):
    """Return encoded observations."""
    noise = tf.random.stateless_normal([*leading, 2, 2], [0, 1])
    return {"image": noise, "number": tf.ones(leading)}


def parameters(network):
    """Return the number of weights."""
    return sum(int(tf.size(v)) for v in network.trainable_variables)


class FeedForwardTest(unittest.TestCase):
    """5 inputs, 8 and 6 units for the policy, 4 for the value."""

    def test_has_the_layers_of_the_settings(self):
        network = networks.feed_forward_gaussian(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy = (5 * 8 + 8) + (8 * 6 + 6) + (6 * 3 + 3) + 3
        value = (5 * 4 + 4) + (4 + 1)
        self.assertEqual(parameters(network), policy + value)
        network = networks.feed_forward_categorical(
            SETTINGS, OBSERVATIONS, gymnasium.spaces.MultiDiscrete([3, 4]), 0
        )
        policy = (5 * 8 + 8) + (8 * 6 + 6) + (6 * 7 + 7)
        self.assertEqual(parameters(network), policy + value)

    def test_starts_near_0_with_the_deviation_of_the_settings(self):
        network = networks.feed_forward_gaussian(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy, value, state = network(observation(7), ())
        self.assertLess(float(tf.reduce_max(tf.abs(policy.mean))), 0.05)
        np.testing.assert_allclose(tf.exp(policy.log_std), np.full([7, 3], 0.5))
        self.assertEqual((value.shape, state), ((7,), ()))

    def test_sequences_are_batches(self):
        network = networks.feed_forward_gaussian(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy, value, _ = network.unroll(observation(2, 5), (), None)
        self.assertEqual((policy.mean.shape, value.shape), ((2, 5, 3), (2, 5)))

    def test_weights_follow_from_the_seed(self):
        first, second, third = (
            networks.feed_forward_gaussian(SETTINGS, OBSERVATIONS, ACTIONS, seed)
            for seed in (0, 0, 1)
        )
        for a, b in zip(
            first.trainable_variables, second.trainable_variables, strict=True
        ):
            np.testing.assert_array_equal(a, b)
        kernels = [n.trainable_variables[0].numpy() for n in (first, third)]
        self.assertFalse((kernels[0] == kernels[1]).any())


class RecurrentTest(unittest.TestCase):
    """A GRU of 6 units behind 8 dense ones."""

    def setUp(self):
        self.network = networks.recurrent_gaussian(SETTINGS, OBSERVATIONS, ACTIONS, 0)

    def test_unrolling_is_stepping_with_resets(self):
        inputs = observation(2, 5)
        reset = np.zeros((2, 5), bool)
        reset[0, 2] = True
        first = tf.random.stateless_normal([2, 6], [3, 4])
        policy, value, states = self.network.unroll(inputs, first, tf.constant(reset))
        state = first
        for step in range(5):
            row = tf.nest.map_structure(lambda leaf, step=step: leaf[:, step], inputs)
            row_policy, row_value, state = self.network(row, state)
            np.testing.assert_allclose(policy.mean[:, step], row_policy.mean, atol=1e-6)
            np.testing.assert_allclose(value[:, step], row_value, atol=1e-5)
            np.testing.assert_allclose(states[:, step], state, atol=1e-6)
            state = tf.where(reset[:, step, None], 0.0, state)

    def test_steps_with_any_leading_dimensions(self):
        policy, value, state = self.network(observation(2, 5), tf.zeros([2, 5, 6]))
        self.assertEqual((policy.mean.shape, value.shape), ((2, 5, 3), (2, 5)))
        self.assertEqual(state.shape, (2, 5, 6))

    def test_an_episode_starts_with_zeros(self):
        np.testing.assert_array_equal(self.network.initial_state(3), np.zeros([3, 6]))


class FindNetworkTest(unittest.TestCase):
    """By name or as they are."""

    def test_functions_of_the_module_are_found_by_name(self):
        found = training.find_network("recurrent_gaussian")
        self.assertIs(found, networks.recurrent_gaussian)

    def test_helpers_are_no_networks(self):
        with self.assertRaisesRegex(SettingError, "'dense_layers' is unknown"):
            training.find_network("dense_layers")

    def test_an_unknown_one_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "did you mean feed_forward_gaussian"):
            training.find_network("feed_forward_gausian")

    def build(self, function):
        """Build by a function of one's own."""
        return training.find_network(function)(SETTINGS, OBSERVATIONS, ACTIONS, 0)

    def test_a_function_of_ones_own_is_called(self):
        def mine(settings, observation_space, action_space, seed):
            return networks.feed_forward_gaussian(
                settings, observation_space, action_space, seed
            )

        self.assertIsInstance(self.build(mine), networks.FeedForward)

    def test_what_is_no_network_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "must take settings"):
            self.build(lambda settings: None)
        with self.assertRaisesRegex(
            SettingError, "returned 5, but must return a Network"
        ):
            self.build(lambda *arguments: 5)


if __name__ == "__main__":
    unittest.main()
