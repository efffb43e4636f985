"""Tests of normalize_ranges."""

import unittest

import gymnasium
import numpy as np

from agents.tools.wrappers.range_normalization import normalize_ranges
from tests.environments import Tiny

INF = np.inf


class Echo(Tiny):
    """Observes its last action, or a given observation after the reset."""

    def __init__(self, space, first=None):
        super().__init__(action_space=space)
        self.observation_space = space
        self.first = first
        self.action = None

    def observe(self):
        return self.first if self.count == 0 else self.action

    def step(self, action):
        self.action = action
        return super().step(action)


def box(low, high):
    """Return a Box of float32."""
    return gymnasium.spaces.Box(np.float32(low), np.float32(high))


class NormalizeRangesTest(unittest.TestCase):
    """Each dimension with two finite bounds is scaled to [-1, 1]."""

    def test_observations(self):
        env = normalize_ranges(Echo(box([0, -2], [10, 4]), np.float32([10, 1])))
        np.testing.assert_allclose(env.reset()[0], [1, 0])
        self.assertEqual(env.observation_space, box([-1, -1], [1, 1]))

    def test_actions(self):
        env = normalize_ranges(Echo(box([0, -2], [10, 4])))
        self.assertEqual(env.action_space, box([-1, -1], [1, 1]))
        for action, original in [([-1, -1], [0, -2]), ([1, 0], [10, 1])]:
            observation = env.step(np.float32(action))[0]
            np.testing.assert_allclose(env.unwrapped.action, original)
            np.testing.assert_allclose(observation, action)

    def test_infinite_and_half_infinite_dimensions_are_left_alone(self):
        space = box([0, -INF, 3, -INF], [10, INF, INF, 3])
        env = normalize_ranges(Echo(space, np.float32([5, 50, 50, -50])))
        np.testing.assert_allclose(env.reset()[0], [0, 50, 50, -50])
        self.assertEqual(
            env.observation_space, box([-1, -INF, 3, -INF], [1, INF, INF, 3])
        )
        env.step(np.float32([1, 50, 50, -50]))
        np.testing.assert_allclose(env.unwrapped.action, [10, 50, 50, -50])

    def test_a_dimension_of_one_value_is_left_alone(self):
        env = normalize_ranges(Echo(box([0, 3], [10, 3]), np.float32([10, 3])))
        np.testing.assert_allclose(env.reset()[0], [1, 3])
        self.assertEqual(env.observation_space, box([-1, 3], [1, 3]))

    def test_shape_of_one_number(self):
        env = normalize_ranges(Echo(gymnasium.spaces.Box(0, 4, ()), np.float32(1)))
        np.testing.assert_allclose(env.reset()[0], -0.5)

    def test_other_spaces_are_left_alone(self):
        for space in (
            gymnasium.spaces.Discrete(3),
            gymnasium.spaces.Box(0, 255, (2,), np.uint8),
        ):
            with self.subTest(space=space):
                env = normalize_ranges(Echo(space))
                self.assertEqual(env.observation_space, space)
                self.assertEqual(env.action_space, space)
