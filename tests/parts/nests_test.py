"""Tests of nests."""

import unittest

import numpy as np
from gymnasium import spaces

from agents.parts import nests
from tests.environments import Nested

IMAGE = spaces.Box(0, 255, (2, 2), np.uint8)
SCALAR = spaces.Box(0, 1, ())
CHOICE = spaces.Discrete(3)


class LeafOrderTest(unittest.TestCase):
    """Dictionaries by sorted key, tuples by position."""

    def test_single_leaf(self):
        self.assertEqual(nests.leaf_spaces(CHOICE), [CHOICE])

    def test_dictionary_by_sorted_key(self):
        space = spaces.Dict({"b": CHOICE, "a": IMAGE})
        self.assertEqual(nests.leaf_spaces(space), [IMAGE, CHOICE])
        self.assertEqual(nests.flatten(space, {"b": 1, "a": 2}), [2, 1])

    def test_tuple_by_position(self):
        space = spaces.Tuple([SCALAR, CHOICE])
        self.assertEqual(nests.leaf_spaces(space), [SCALAR, CHOICE])
        self.assertEqual(nests.flatten(space, (0.5, 2)), [0.5, 2])

    def test_nested(self):
        space = Nested.observation_space
        value = {"pair": ("c", "d"), "image": "a"}
        self.assertEqual(nests.flatten(space, value), ["a", "c", "d"])

    def test_pack_undoes_flatten(self):
        space = Nested.observation_space
        value = {"pair": (1, 2.5), "image": "image"}
        self.assertEqual(nests.pack(space, nests.flatten(space, value)), value)

    def test_map_space_keeps_the_structure(self):
        shapes = nests.map_space(lambda leaf: leaf.shape, Nested.observation_space)
        self.assertEqual(shapes, {"image": (2, 2), "pair": ((), ())})


class WrongValueTest(unittest.TestCase):
    """A value that has another structure than its space."""

    def test_missing_key(self):
        with self.assertRaises(KeyError):
            nests.flatten(Nested.observation_space, {"image": 1})

    def test_tuple_too_short(self):
        with self.assertRaises(ValueError):
            nests.flatten(spaces.Tuple([CHOICE, CHOICE]), (1,))


class LeafDtypeTest(unittest.TestCase):
    """Floats travel as float32, everything else as it is."""

    def test_dtypes(self):
        for space, dtype in [
            (spaces.Box(0, 1, (2,), np.float64), np.float32),
            (spaces.Box(0, 1, (2,), np.float16), np.float32),
            (SCALAR, np.float32),
            (IMAGE, np.uint8),
            (CHOICE, np.int64),
            (spaces.MultiDiscrete([3, 5]), np.int64),
            (spaces.MultiBinary(4), np.int8),
        ]:
            with self.subTest(space=space):
                self.assertEqual(nests.leaf_dtype(space), dtype)


class UnsupportedSpaceTest(unittest.TestCase):
    """The error names the space and what is supported."""

    def test_names(self):
        space = spaces.Dict({"a": CHOICE, "b": spaces.Text(5)})
        with self.assertRaises(nests.UnsupportedSpace) as caught:
            nests.leaf_spaces(space)
        message = str(caught.exception)
        self.assertIn("Text(", message)
        self.assertIn("Box, Discrete, MultiDiscrete and MultiBinary", message)
