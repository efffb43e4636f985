"""Rows that are no transitions."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Trajectory, without_invalid


class WithoutInvalidTest(unittest.TestCase):
    """Leaves of any rank and type."""

    def test_puts_zeros_where_no_transition_happened(self):
        junk = tf.constant([[1.0], [np.nan]])
        trajectory = Trajectory(
            observation={"image": tf.ones([2, 1, 2], tf.uint8), "number": junk},
            action=tf.constant([[3], [4]]),
            reward=junk,
            terminated=tf.constant([[False], [True]]),
            truncated=tf.constant([[True], [True]]),
            final_observation=(),
            valid=tf.constant([[True], [False]]),
            state=(),
            extras=(),
        )
        cleared = without_invalid(trajectory)
        np.testing.assert_array_equal(
            cleared.observation["image"], [[[1, 1]], [[0, 0]]]
        )
        np.testing.assert_array_equal(cleared.observation["number"], [[1], [0]])
        np.testing.assert_array_equal(cleared.action, [[3], [0]])
        # An episode may have been lost there.
        np.testing.assert_array_equal(cleared.terminated, [[False], [True]])
        np.testing.assert_array_equal(cleared.truncated, [[True], [True]])


if __name__ == "__main__":
    unittest.main()
