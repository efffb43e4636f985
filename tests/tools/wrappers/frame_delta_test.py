"""Tests of FrameDelta."""

import unittest

import gymnasium
import numpy as np

from agents.tools.wrappers.frame_delta import FrameDelta
from tests import environments


class Image(environments.Tiny):
    """Observes 200 at the reset, 200 less in each step, as uint8."""

    observation_space = gymnasium.spaces.Box(0, 255, (1,), np.uint8)

    def observe(self):
        """Return the current image."""
        return np.uint8([200 - 200 * self.count])


class FrameDeltaTest(unittest.TestCase):
    """Observations are what changed since the last step."""

    def test_an_episode(self):
        env = FrameDelta(environments.Counter())
        np.testing.assert_array_equal(env.reset()[0], [0])
        np.testing.assert_array_equal(env.step(0)[0], [1])
        np.testing.assert_array_equal(env.step(0)[0], [1])

    def test_the_next_episode_starts_at_0(self):
        env = FrameDelta(environments.Counter())
        env.reset()
        env.step(0)
        np.testing.assert_array_equal(env.reset()[0], [0])
        np.testing.assert_array_equal(env.step(0)[0], [1])

    def test_an_observation_that_is_changed_in_place(self):
        env = FrameDelta(environments.MutatesObservation())
        env.reset()
        np.testing.assert_array_equal(env.step(0)[0], [1])

    def test_unsigned_images_may_get_darker(self):
        env = FrameDelta(Image())
        env.reset()
        delta = env.step(0)[0]
        np.testing.assert_array_equal(delta, [-200])
        self.assertTrue(env.observation_space.contains(delta))
        self.assertEqual(env.observation_space, gymnasium.spaces.Box(-255, 255, (1,)))

    def test_infinite_bounds(self):
        env = FrameDelta(environments.Counter())
        self.assertEqual(env.observation_space.low.tolist(), [-np.inf])
        self.assertEqual(env.observation_space.high.tolist(), [np.inf])

    def test_needs_a_box(self):
        with self.assertRaisesRegex(TypeError, "needs a Box.*Dict"):
            FrameDelta(environments.Nested())
