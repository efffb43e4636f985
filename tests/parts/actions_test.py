"""Actions within their bounds: cases 14 and 15."""

import unittest

import numpy as np
import tensorflow as tf
from gymnasium import spaces

from agents.parts import actions
from agents.parts.nests import UnsupportedSpace

INF = np.inf


def mapped(space, sample, normalize_ranges=True):
    """Map one sample to an action."""
    batch = tf.constant(np.asarray(sample)[None])
    return actions.to_environment(space, batch, normalize_ranges)[0].numpy()


class ContinuousTest(unittest.TestCase):
    """Box actions."""

    def test_scales_minus_1_to_1_to_the_bounds(self):
        space = spaces.Box(np.float32([-2, 0]), np.float32([2, 10]))
        np.testing.assert_allclose(mapped(space, np.float32([0.5, 0.0])), [1, 5])

    def test_clips_to_the_bounds(self):
        space = spaces.Box(-2, 2, (2,))
        np.testing.assert_allclose(mapped(space, np.float32([7, -7])), [2, -2])

    def test_half_infinite_dimensions_are_left_alone_and_clipped(self):
        low, high = np.float32([-2, 0, -INF, -INF]), np.float32([2, INF, 3, INF])
        action = mapped(spaces.Box(low, high), np.float32([1, 1.5, -9, 20]))
        np.testing.assert_allclose(action, [2, 1.5, -9, 20])
        action = mapped(spaces.Box(low, high), np.float32([0, -1, 4, 0]))
        np.testing.assert_allclose(action, [0, 0, 3, 0])

    def test_bounds_near_the_largest_float_stay_finite(self):
        action = mapped(spaces.Box(-3e38, 3e38, (1,)), np.float32([0.5]))
        np.testing.assert_allclose(action, [1.5e38])

    def test_rounding_does_not_carry_an_action_across_its_bounds(self):
        space = spaces.Box(0.1, 0.3, (1,), np.float64)
        for sample in (-1.0, 1.0):
            self.assertTrue(space.contains(mapped(space, np.float32([sample]))))

    def test_without_scaling_units_are_the_environments(self):
        action = mapped(spaces.Box(-2, 2, (1,)), np.float32([0.5]), False)
        np.testing.assert_allclose(action, [0.5])

    def test_shape_and_dtype_are_those_of_the_space(self):
        space = spaces.Box(-1, 1, (2, 3), np.float64)
        action = mapped(space, np.zeros(6, np.float32))
        self.assertEqual((action.shape, action.dtype), ((2, 3), np.float64))
        self.assertEqual(actions.dimensions(space), 6)

    def test_other_spaces_are_refused(self):
        for space in (spaces.Discrete(2), spaces.Box(0, 5, (1,), np.int64)):
            with self.assertRaisesRegex(UnsupportedSpace, "use a Box of floats"):
                actions.dimensions(space)


class DiscreteTest(unittest.TestCase):
    """Discrete, MultiDiscrete and MultiBinary actions."""

    def check(self, space, counts, sample, expected):
        """Compare the choices and the action of a space."""
        self.assertEqual(actions.choice_counts(space), counts)
        action = mapped(space, np.int32(sample))
        self.assertEqual(action.dtype, space.dtype)
        np.testing.assert_array_equal(action, expected)
        self.assertTrue(space.contains(action))

    def test_discrete(self):
        self.check(spaces.Discrete(3), [3], [2], 2)

    def test_discrete_may_start_elsewhere(self):
        self.check(spaces.Discrete(3, start=5), [3], [2], 7)

    def test_multi_discrete(self):
        self.check(spaces.MultiDiscrete([3, 5]), [3, 5], [2, 4], [2, 4])

    def test_multi_binary(self):
        self.check(spaces.MultiBinary(4), [2, 2, 2, 2], [1, 0, 0, 1], [1, 0, 0, 1])

    def test_other_spaces_are_refused(self):
        with self.assertRaisesRegex(UnsupportedSpace, "use a Box of floats"):
            actions.choice_counts(spaces.Box(-1, 1, (1,)))


if __name__ == "__main__":
    unittest.main()
