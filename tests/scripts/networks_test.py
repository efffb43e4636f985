"""Networks by their initial outputs and states."""

import dataclasses
import unittest

import gymnasium
import keras
import numpy as np
import tensorflow as tf

from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.nests import UnsupportedSpace
from agents.parts.network import FeedForward
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
        network = networks.feed_forward(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy = (5 * 8 + 8) + (8 * 6 + 6) + (6 * 3 + 3) + 3
        value = (5 * 4 + 4) + (4 + 1)
        self.assertEqual(parameters(network), policy + value)
        network = networks.feed_forward(
            SETTINGS, OBSERVATIONS, gymnasium.spaces.MultiDiscrete([3, 4]), 0
        )
        policy = (5 * 8 + 8) + (8 * 6 + 6) + (6 * 7 + 7)
        self.assertEqual(parameters(network), policy + value)

    def test_starts_near_0_with_the_deviation_of_the_settings(self):
        network = networks.feed_forward(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy, value, state = network(observation(7), ())
        self.assertLess(float(tf.reduce_max(tf.abs(policy.mean))), 0.05)
        np.testing.assert_allclose(tf.exp(policy.log_std), np.full([7, 3], 0.5))
        self.assertEqual((value.shape, state), ((7,), ()))

    def test_sequences_are_batches(self):
        network = networks.feed_forward(SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy, value, _ = network.unroll(observation(2, 5), (), None)
        self.assertEqual((policy.mean.shape, value.shape), ((2, 5, 3), (2, 5)))

    def test_weights_follow_from_the_seed(self):
        first, second, third = (
            networks.feed_forward(SETTINGS, OBSERVATIONS, ACTIONS, seed)
            for seed in (0, 0, 1)
        )
        for a, b in zip(
            first.trainable_variables, second.trainable_variables, strict=True
        ):
            np.testing.assert_array_equal(a, b)
        kernels = [n.trainable_variables[0].numpy() for n in (first, third)]
        self.assertFalse((kernels[0] == kernels[1]).any())


class RecurrentTest(unittest.TestCase):
    """A GRU of 6 units behind 8 dense ones that are shared."""

    def setUp(self):
        settings = dataclasses.replace(SETTINGS, shared_layers=(8,), recurrent_units=6)
        self.network = networks.recurrent(settings, OBSERVATIONS, ACTIONS, 0)

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


class DeviationTest(unittest.TestCase):
    """The deviation as a function of the observation."""

    def test_starts_at_that_of_the_settings_and_depends_on_the_observation(self):
        settings = dataclasses.replace(
            SETTINGS, state_dependent_std=True, init_output_factor=1.0
        )
        network = networks.feed_forward(settings, OBSERVATIONS, ACTIONS, 0)
        zero = tf.nest.map_structure(tf.zeros_like, observation(1))
        policy, _, _ = network(zero, ())
        np.testing.assert_allclose(tf.exp(policy.log_std), np.full([1, 3], 0.5))
        policy, _, _ = network(observation(2), ())
        self.assertGreater(float(tf.math.reduce_std(policy.log_std)), 0.01)
        inputs = (5 * 8 + 8) + (8 * 6 + 6) + 2 * (6 * 3 + 3)
        self.assertEqual(parameters(network), inputs + (5 * 4 + 4) + (4 + 1))

    def test_a_start_that_can_not_be_learned_from_is_an_error(self):
        settings = dataclasses.replace(
            SETTINGS, state_dependent_std=True, init_std=10.0
        )
        with self.assertRaisesRegex(SettingError, "between 4.5e-05 and 7.4"):
            networks.feed_forward(settings, OBSERVATIONS, ACTIONS, 0)


class ConvolutionalTest(unittest.TestCase):
    """Images of 5 x 4 with 3 channels beside a number."""

    SETTINGS = dataclasses.replace(
        SETTINGS, conv_layers=((2, 3, 1), (7, 2, 1)), shared_layers=(9,)
    )

    def space(self, shape=(5, 4, 3), dtype=np.uint8):
        """Return a space with an image."""
        image = gymnasium.spaces.Box(0, 1 if dtype == np.float32 else 255, shape, dtype)
        number = gymnasium.spaces.Box(-1, 1, ())
        return gymnasium.spaces.Dict({"image": image, "number": number})

    def test_has_the_layers_of_the_settings(self):
        network = networks.convolutional(self.SETTINGS, self.space(), ACTIONS, 0)
        images = (3 * 3 * 3 * 2 + 2) + (2 * 2 * 2 * 7 + 7)
        # 5 x 4 becomes 3 x 2 and then 2 x 1, with 7 channels.
        shared = (2 * 1 * 7 + 1) * 9 + 9
        policy = (9 * 8 + 8) + (8 * 6 + 6) + (6 * 3 + 3) + 3
        value = (9 * 4 + 4) + (4 + 1)
        self.assertEqual(parameters(network), images + shared + policy + value)

    def test_leading_dimensions_are_free(self):
        network = networks.convolutional(self.SETTINGS, self.space(), ACTIONS, 0)
        images = tf.random.stateless_uniform([2, 6, 5, 4, 3], [1, 2])
        many = {"image": images, "number": tf.ones([2, 6])}
        policy, value, _ = network.unroll(many, (), None)
        self.assertEqual((policy.mean.shape, value.shape), ((2, 6, 3), (2, 6)))
        one = tf.nest.map_structure(lambda leaf: leaf[1, 4][None], many)
        np.testing.assert_allclose(network(one, ())[1][0], value[1, 4], atol=1e-6)

    def test_channels_may_come_first(self):
        last = networks.convolutional(self.SETTINGS, self.space(), ACTIONS, 0)
        first = networks.convolutional(self.SETTINGS, self.space((3, 5, 4)), ACTIONS, 0)
        images = tf.random.stateless_uniform([6, 5, 4, 3], [1, 2])
        numbers = tf.ones([6])
        _, expected, _ = last({"image": images, "number": numbers}, ())
        images = tf.transpose(images, [0, 3, 1, 2])
        _, value, _ = first({"image": images, "number": numbers}, ())
        np.testing.assert_allclose(value, expected, atol=1e-6)

    def test_images_of_bytes_need_no_channels(self):
        network = networks.convolutional(self.SETTINGS, self.space((5, 4)), ACTIONS, 0)
        images = {"image": tf.zeros([6, 5, 4]), "number": tf.zeros([6])}
        self.assertEqual(network(images, ())[1].shape, [6])

    def test_kernels_larger_than_the_image_are_an_error(self):
        with self.assertRaisesRegex(SettingError, r"nothing of an image.*\[2, 4, 3\]"):
            networks.convolutional(self.SETTINGS, self.space((2, 4, 3)), ACTIONS, 0)

    def test_without_an_image_there_is_another_network(self):
        with self.assertRaisesRegex(UnsupportedSpace, "feed_forward"):
            networks.convolutional(self.SETTINGS, ACTIONS, ACTIONS, 0)

    def test_may_stand_before_a_recurrent_cell(self):
        network = networks.convolutional_recurrent(
            self.SETTINGS, self.space(), ACTIONS, 0
        )
        images = tf.random.stateless_uniform([2, 6, 5, 4, 3], [1, 2])
        many = {"image": images, "number": tf.ones([2, 6])}
        first, reset = network.initial_state(2), tf.zeros([2, 6], tf.bool)
        policy, value, states = network.unroll(many, first, reset)
        self.assertEqual((policy.mean.shape, value.shape), ((2, 6, 3), (2, 6)))
        self.assertEqual(states.shape, [2, 6, SETTINGS.recurrent_units])


class FromKerasTest(unittest.TestCase):
    """A model of one's own."""

    def test_a_model_with_a_nest_as_input(self):
        inputs = {"image": keras.Input((2, 2)), "number": keras.Input(())}
        image = keras.layers.Flatten()(inputs["image"])
        number = keras.layers.Reshape((1,))(inputs["number"])
        joined = keras.layers.Concatenate()([image, number])
        model = keras.Model(inputs, keras.layers.Dense(11)(joined))
        network = networks.from_keras(model, SETTINGS, OBSERVATIONS, ACTIONS, 0)
        policy = (11 * 8 + 8) + (8 * 6 + 6) + (6 * 3 + 3) + 3
        value = (11 * 4 + 4) + (4 + 1)
        self.assertEqual(parameters(network), 5 * 11 + 11 + policy + value)
        many, value, _ = network(observation(2, 5), ())
        self.assertEqual((many.mean.shape, value.shape), ((2, 5, 3), (2, 5)))

    def test_what_has_no_weights_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "Keras model or layer"):
            networks.from_keras(tf.identity, SETTINGS, ACTIONS, ACTIONS, 0)

    def test_a_model_with_other_inputs_names_the_shapes_that_it_would_get(self):
        inputs = {"image": keras.Input((2, 2)), "sound": keras.Input(())}
        joined = keras.layers.Flatten()(inputs["image"])
        model = keras.Model(inputs, keras.layers.Dense(11)(joined), name="mine")
        with self.assertRaisesRegex(
            SettingError, r"model mine can't take .*'number': \(None,\).*once encoded"
        ):
            networks.from_keras(model, SETTINGS, OBSERVATIONS, ACTIONS, 0)

    def test_a_model_that_returns_no_vectors_is_an_error(self):
        model = keras.Sequential([keras.layers.Reshape((3, 1))])
        with self.assertRaisesRegex(SettingError, "returns 3 dimensions"):
            networks.from_keras(model, SETTINGS, ACTIONS, ACTIONS, 0)

    def test_a_sequence_of_layers(self):
        model = keras.Sequential([keras.layers.Dense(4, "relu")])
        network = networks.from_keras(model, SETTINGS, ACTIONS, ACTIONS, 0)
        self.assertEqual(network(tf.zeros([7, 3]), ())[1].shape, [7])


class FindNetworkTest(unittest.TestCase):
    """By name or as they are."""

    def test_functions_of_the_module_are_found_by_name(self):
        found = training.find_network("recurrent")
        self.assertIs(found, networks.recurrent)

    def test_helpers_are_no_networks(self):
        with self.assertRaisesRegex(SettingError, "'from_keras' is unknown"):
            training.find_network("from_keras")

    def test_an_unknown_one_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "did you mean feed_forward"):
            training.find_network("feed_foward")

    def build(self, function):
        """Build by a function of one's own."""
        return training.find_network(function)(SETTINGS, OBSERVATIONS, ACTIONS, 0)

    def test_a_function_of_ones_own_is_called(self):
        def mine(settings, observation_space, action_space, seed):
            return networks.feed_forward(
                settings, observation_space, action_space, seed
            )

        self.assertIsInstance(self.build(mine), FeedForward)

    def test_what_is_no_network_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "must take settings"):
            self.build(lambda settings: None)
        with self.assertRaisesRegex(
            SettingError, "returned 5, but must return a Network"
        ):
            self.build(lambda *arguments: 5)


if __name__ == "__main__":
    unittest.main()
