"""The first reward or observation that is not finite."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Trajectory
from agents.tools import finiteness
from agents.tools.faults import EnvironmentFault


def trajectory(reward=(), observation=(), final=(), invalid=()):
    """Return 4 steps of 3 environments; faults are given by (row, environment)."""
    arrays = {}
    for name, shape, places in (
        ("reward", [4, 3], reward),
        ("observation", [4, 3, 2], observation),
        ("final_observation", [4, 3, 2], final),
    ):
        arrays[name] = np.ones(shape, np.float32)
        for place in places:
            arrays[name][place] = np.inf
    valid = np.ones([4, 3], bool)
    for place in invalid:
        valid[place] = False
    leaves = {key: tf.constant(value) for key, value in arrays.items()}
    leaves["final_observation"] = {"seen": leaves["final_observation"]}
    leaves["observation"] = {"seen": leaves["observation"]}
    return Trajectory(*[()] * 9)._replace(valid=tf.constant(valid), **leaves)


NEXT = {"seen": tf.ones([3, 2])}


class FinitenessTest(unittest.TestCase):
    """What is found, and how it is said."""

    def find(self, **faults):
        """Return what is found, as a list."""
        return finiteness.first_fault(trajectory(**faults), NEXT).numpy().tolist()

    def test_nothing_is_found_where_all_is_finite(self):
        self.assertEqual(self.find()[0], 0)

    def test_the_earliest_counts(self):
        """What row 1 acts on is what row 0 gave."""
        found = self.find(reward=[(3, 0)], observation=[(1, 2), (2, 0)])
        self.assertEqual(found, [1, 0, 2, 1])

    def test_rewards_and_final_observations(self):
        self.assertEqual(self.find(reward=[(0, 0)]), [1, 0, 0, 0])
        self.assertEqual(self.find(final=[(2, 1)]), [1, 2, 1, 1])

    def test_rows_that_are_no_transitions_may_hold_anything(self):
        self.assertEqual(self.find(reward=[(3, 0)], invalid=[(3, 0)])[0], 0)

    def test_what_is_acted_on_next_counts(self):
        following = {"seen": tf.constant([[1, 1], [1, np.nan], [1, 1]], tf.float32)}
        found = finiteness.first_fault(trajectory(), following)
        self.assertEqual(found.numpy().tolist(), [1, 3, 1, 1])

    def test_whole_numbers_are_finite(self):
        whole = tf.ones([4, 3], tf.int32)
        rows = trajectory()._replace(observation=whole, final_observation=whole)
        self.assertEqual(int(finiteness.first_fault(rows, whole[0])[0]), 0)

    def test_a_fault_is_named_with_its_step(self):
        found = tf.constant([[0, 0, 0, 0], [1, 2, 1, 0]])
        with self.assertRaisesRegex(
            EnvironmentFault, "Environment 1 gave a reward .* in step 7 after"
        ):
            finiteness.check(found, tf.constant([1, 5]))
        finiteness.check(found[:1], tf.constant([1]))


if __name__ == "__main__":
    unittest.main()
