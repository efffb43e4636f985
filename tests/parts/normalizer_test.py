"""Running statistics."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts.normalizer import ObservationNormalizer, RunningMoments

BOX = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)


def normal(shape, seed=0):
    """Draw float32 numbers of mean 1000 and deviation 3."""
    return np.random.default_rng(seed).normal(1000, 3, shape).astype(np.float32)


class RunningMomentsTest(unittest.TestCase):
    """Case 3 among them."""

    def test_counts_one_for_each_transition(self):
        moments = RunningMoments((2,))
        moments.update(tf.zeros([12, 2, 2]), tf.ones([12, 2], tf.bool))
        self.assertEqual(float(moments.count), 24)

    def test_does_not_count_rows_that_are_no_transitions(self):
        moments = RunningMoments(())
        samples = tf.constant([[1.0, np.nan], [3.0, 5.0]])
        moments.update(samples, tf.constant([[True, False], [True, False]]))
        self.assertEqual(float(moments.count), 2)
        self.assertAlmostEqual(float(moments.offset), 2.0)
        self.assertAlmostEqual(float(moments.scale), 1.0, 5)

    def test_batches_add_up_to_the_whole(self):
        samples = normal([30, 4, 2])
        moments = RunningMoments((2,))
        for part in np.split(samples, [1, 7, 20]):
            moments.update(tf.constant(part), tf.ones(part.shape[:2], tf.bool))
        flat = samples.reshape(-1, 2).astype(np.float64)
        np.testing.assert_allclose(moments.offset, flat.mean(0), rtol=1e-6)
        np.testing.assert_allclose(moments.scale, 1 / flat.std(0), rtol=1e-5)

    def test_nothing_seen_leaves_values_alone(self):
        moments = RunningMoments((2,))
        moments.update(tf.ones([3, 1, 2]), tf.zeros([3, 1], tf.bool))
        np.testing.assert_allclose(moments.offset, [0, 0])
        np.testing.assert_allclose(moments.scale, [1, 1])

    def test_counts_beyond_what_float32_can(self):
        moments = RunningMoments(())
        moments.update(tf.zeros([1, 1]), tf.ones([1, 1], tf.bool))
        moments._moments.count.assign(2.0**24)  # pylint: disable=protected-access
        moments.update(tf.zeros([1, 1]), tf.ones([1, 1], tf.bool))
        self.assertEqual(float(moments.count), 2**24 + 1)


class ObservationNormalizerTest(unittest.TestCase):
    """Continuous leaves are normalized, others encoded."""

    def test_brings_observations_to_mean_0_and_deviation_1(self):
        samples = normal([50, 4, 2])
        normalizer = ObservationNormalizer(BOX)
        normalizer.update(tf.constant(samples), tf.ones([50, 4], tf.bool))
        normalized = normalizer(tf.constant(samples)).numpy().reshape(-1, 2)
        np.testing.assert_allclose(normalized.mean(0), 0, atol=1e-3)
        np.testing.assert_allclose(normalized.std(0), 1, rtol=1e-3)

    def test_clips_what_lies_far_out(self):
        normalizer = ObservationNormalizer(BOX)
        np.testing.assert_allclose(normalizer(tf.constant([1e6, -1e6])), [10, -10])

    def test_switched_off_only_casts(self):
        normalizer = ObservationNormalizer(BOX, enabled=False)
        normalizer.update(tf.ones([3, 1, 2]), tf.ones([3, 1], tf.bool))
        np.testing.assert_allclose(normalizer(tf.constant([50.0, 3.0])), [50, 3])

    def test_codes_and_images_keep_their_scale(self):
        space = gymnasium.spaces.Dict(
            {
                "image": gymnasium.spaces.Box(0, 255, (1, 1, 3), np.uint8),
                "kind": gymnasium.spaces.Discrete(3),
            }
        )
        normalizer = ObservationNormalizer(space)
        raw = {
            "image": tf.constant([[[[0, 51, 255]]]], tf.uint8),
            "kind": tf.constant([1], tf.int64),
        }
        over_time = tf.nest.map_structure(lambda leaf: leaf[None], raw)
        normalizer.update(over_time, tf.ones([1, 1], tf.bool))
        encoded = normalizer(raw)
        np.testing.assert_allclose(encoded["image"][0, 0, 0], [0, 0.2, 1], rtol=1e-6)
        np.testing.assert_allclose(encoded["kind"], [[0, 1, 0]])


if __name__ == "__main__":
    unittest.main()
