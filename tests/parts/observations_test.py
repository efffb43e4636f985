"""Encoding of observations: cases 13 and 14."""

import unittest

import numpy as np
import tensorflow as tf
from gymnasium import spaces

from agents.parts import observations
from agents.parts.nests import UnsupportedSpace


class EncodeTest(unittest.TestCase):
    """Each kind of leaf."""

    def check(self, space, value, expected):
        """Encode a batch of one and compare."""
        leaf = tf.constant(np.asarray(value, space.dtype)[None])
        encoded = observations.encode(space, leaf)
        self.assertEqual(encoded.dtype, tf.float32)
        self.assertEqual(tuple(encoded.shape[1:]), observations.encoded_shape(space))
        np.testing.assert_allclose(encoded[0], expected, rtol=1e-6)

    def test_discrete_is_one_hot(self):
        self.check(spaces.Discrete(4), 2, [0, 0, 1, 0])

    def test_discrete_may_start_elsewhere(self):
        self.check(spaces.Discrete(3, start=-1), 1, [0, 0, 1])

    def test_multi_discrete_is_one_hot_in_each_part(self):
        self.check(spaces.MultiDiscrete([3, 2]), [2, 0], [0, 0, 1, 1, 0])

    def test_multi_binary_is_cast(self):
        self.check(spaces.MultiBinary(3), [1, 0, 1], [1, 0, 1])

    def test_images_are_scaled_once(self):
        image = spaces.Box(0, 255, (1, 2, 1), np.uint8)
        self.check(image, [[[51], [255]]], [[[0.2], [1.0]]])

    def test_float64_is_cast(self):
        self.check(spaces.Box(-1, 1, (2,), np.float64), [0.5, -1], [0.5, -1])

    def test_a_scalar_box_works(self):
        self.check(spaces.Box(-1, 1, (), np.float32), 0.5, 0.5)


class NaturalScaleTest(unittest.TestCase):
    """What is brought to mean 0 and deviation 1, and what is not."""

    def test_numbers_have_none_but_images_and_codes_have(self):
        self.assertTrue(observations.is_continuous(spaces.Box(0, 1, (3,))))
        self.assertTrue(observations.is_continuous(spaces.Box(-1, 1, (4, 4, 3))))
        for space in (
            spaces.Box(0, 255, (4, 4, 3), np.uint8),
            spaces.Box(0, 1, (4, 4, 3)),
            spaces.Discrete(3),
            spaces.MultiBinary(3),
        ):
            self.assertFalse(observations.is_continuous(space), space)


class ImageTest(unittest.TestCase):
    """Where the channels are."""

    def test_equal_sides_leave_the_channels_over(self):
        for shape, size in (
            ((84, 84, 4), (84, 84)),
            ((4, 84, 84), (84, 84)),
            ((8, 8, 111), (8, 8)),
            ((111, 8, 8), (8, 8)),
            ((210, 160, 3), (210, 160)),
            ((3, 210, 160), (210, 160)),
            ((3, 3, 3), (3, 3)),
            ((84, 83), (84, 83)),
        ):
            space = spaces.Box(0, 255, shape, np.uint8)
            self.assertEqual(observations.image_size(space), size)
            image = tf.zeros([5, *shape])
            found = observations.channels_last(space, image).shape
            self.assertEqual(tuple(found[1:3]), size)


class ActionMaskTest(unittest.TestCase):
    """The entry of a Dict that is no observation."""

    def test_is_split_off(self):
        mask, number = spaces.MultiBinary(2), spaces.Box(-1, 1, ())
        space = spaces.Dict({"action_mask": mask, "number": number})
        self.assertEqual(observations.without_mask(space), spaces.Dict(number=number))
        flags = tf.constant([[1.0, 0.0]])
        rest, found = observations.split_mask(
            space, {"action_mask": flags, "number": 3}
        )
        self.assertEqual(rest, {"number": 3})
        np.testing.assert_array_equal(found, flags)

    def test_several_of_any_shape_become_one_vector(self):
        masks = spaces.Tuple([spaces.MultiBinary((2, 2)), spaces.Box(0, 1, (), int)])
        space = spaces.Dict({"action_mask": masks, "b": spaces.Discrete(2)})
        leaves = (tf.constant([[[1.0, 2], [3, 4]]]), tf.constant([5.0]))
        _, found = observations.split_mask(space, {"action_mask": leaves, "b": 0})
        np.testing.assert_array_equal(found, [[1, 2, 3, 4, 5]])
        expected = [True, True, False]
        self.assertEqual(observations.mask_leaves(space), expected)

    def test_a_choice_is_no_mask(self):
        space = spaces.Dict({"action_mask": spaces.MultiDiscrete([2, 2])})
        with self.assertRaisesRegex(UnsupportedSpace, "must be MultiBinary, a Box"):
            observations.split_mask(space, {"action_mask": tf.zeros([1, 4])})

    def test_there_may_be_none(self):
        space = spaces.Dict(number=spaces.Box(-1, 1, ()))
        self.assertIs(observations.without_mask(space), space)
        self.assertEqual(observations.split_mask(space, 5), (5, None))


class ConcatenateTest(unittest.TestCase):
    """Leaves in one vector."""

    def test_any_leading_dimensions(self):
        leaves = [spaces.Box(-1, 1, (), np.float32), spaces.Box(-1, 1, (2, 2))]
        for leading in ([], [3], [3, 5]):
            values = [tf.zeros(leading), tf.ones([*leading, 2, 2])]
            vector = observations.concatenate(values, leaves)
            self.assertEqual(list(vector.shape), [*leading, 5])
            expected = np.broadcast_to([0, 1, 1, 1, 1], vector.shape)
            np.testing.assert_allclose(vector, expected)


if __name__ == "__main__":
    unittest.main()
