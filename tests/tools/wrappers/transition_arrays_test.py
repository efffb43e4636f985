"""Tests of TransitionArrays."""

import unittest

import numpy as np
from gymnasium import spaces

from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.transition_arrays import Layout, TransitionArrays
from tests.environments import Nested

ACTION = spaces.Discrete(3)


class LayoutTest(unittest.TestCase):
    """Arrays are typed by the spaces, and any memory may hold them."""

    def test_shapes_and_dtypes(self):
        arrays = TransitionArrays(Layout(Nested.observation_space, ACTION, 5))
        kinds = [((5, 2, 2), np.uint8), ((5,), np.int64), ((5,), np.float32)]
        for leaves in (arrays.observation, arrays.final_observation):
            self.assertEqual([(leaf.shape, leaf.dtype) for leaf in leaves], kinds)
        outcome = [arrays.reward, arrays.terminated, arrays.truncated]
        self.assertEqual([array.shape for array in outcome], [(5,)] * 3)
        self.assertEqual([array.dtype for array in outcome], [np.float32, bool, bool])
        self.assertEqual(
            [(leaf.shape, leaf.dtype) for leaf in arrays.action], [((5,), np.int64)]
        )

    def test_size_is_in_whole_cache_lines(self):
        # Twice an image of 20 bytes, 40 and 20 bytes, then 20, 5, 5 and 40: 64 each.
        size = Layout(Nested.observation_space, ACTION, 5).size
        self.assertEqual(size, 10 * 64)

    def test_two_views_of_one_memory(self):
        layout = Layout(Nested.observation_space, ACTION, 5)
        memory = bytearray(layout.size)
        one, other = (TransitionArrays(layout, memory) for _ in range(2))
        names = ("observation", "final_observation", "action")
        for number, array in enumerate(_all(one, names), start=1):
            array[...] = number
        for number, array in enumerate(_all(other, names), start=1):
            np.testing.assert_array_equal(array, np.full_like(array, number))


class WriteTest(unittest.TestCase):
    """Rows are copied, cast, and checked."""

    def setUp(self):
        self.arrays = TransitionArrays(Layout(spaces.Box(0, 9, (2,)), ACTION, 2))

    def test_observation_is_cast_and_copied(self):
        observation = np.array([1, 2], np.float64)
        self.arrays.write_observation(self.arrays.observation, 1, observation)
        observation[...] = 3
        np.testing.assert_array_equal(self.arrays.observation[0], [[0, 0], [1, 2]])

    def test_outcome(self):
        self.arrays.write_outcome(1, 2, np.bool_(True), False)
        self.assertEqual(self.arrays.reward.tolist(), [0, 2])
        self.assertEqual(self.arrays.terminated.tolist(), [False, True])
        self.assertEqual(self.arrays.truncated.tolist(), [False, False])

    def test_flag_that_is_no_scalar(self):
        with self.assertRaisesRegex(EnvironmentFault, "flags that are no booleans"):
            self.arrays.write_outcome(0, 1.0, [True], False)

    def test_integers_of_other_dtypes_are_cast_where_they_fit(self):
        arrays = TransitionArrays(Layout(spaces.MultiBinary(2), ACTION, 1))
        for value in ([0, 1], [False, True], np.float64([0, 1])):
            with self.subTest(value=value):
                arrays.write_observation(arrays.observation, 0, value)
                self.assertEqual(arrays.observation[0].tolist(), [[0, 1]])


def _all(arrays, names):
    return [
        *(leaf for name in names for leaf in getattr(arrays, name)),
        arrays.reward,
        arrays.terminated,
        arrays.truncated,
    ]
