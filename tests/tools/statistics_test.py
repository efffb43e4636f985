"""Scores of a phase."""

import unittest

import numpy as np

from agents.tools.simulation import Episodes
from agents.tools.statistics import EpisodeStatistics, TrainingStatistics


class EpisodeStatisticsTest(unittest.TestCase):
    """Counts, means, deviations."""

    def test_counts_only_episodes_that_ended(self):
        statistics = EpisodeStatistics()
        statistics.add(
            Episodes(
                score=np.array([[1.0, 2.0], [5.0, 4.0]]),
                length=np.array([[1, 2], [5, 4]]),
                ended=np.array([[False, True], [False, True]]),
            )
        )
        expected = {"episodes": 2, "mean_score": 3.0, "std_score": 1.0}
        self.assertEqual(statistics.summary(), expected | {"mean_length": 3.0})

    def test_no_episode_has_no_score(self):
        summary = EpisodeStatistics().summary()
        self.assertEqual(summary["episodes"], 0)
        self.assertIsNone(summary["mean_score"])


class TrainingStatisticsTest(unittest.TestCase):
    """What a checkpoint between boundaries holds."""

    def test_goes_on_from_its_text_as_if_it_had_never_been_one(self):
        draw = np.random.default_rng(0)
        whole, part = TrainingStatistics(), TrainingStatistics()
        self.assertFalse(whole.begun)
        for _ in range(3):
            score, length = draw.normal(size=(2, 4, 2)).astype(np.float32)
            episodes = Episodes(score, length, score > 0)
            metrics = {"loss": draw.normal(size=5).astype(np.float32)}
            whole.add(episodes, metrics)
            part.add(episodes, metrics)
            part = TrainingStatistics(part.to_text())
            self.assertTrue(part.begun)
        self.assertEqual(whole.summary(), part.summary())
        self.assertEqual(len(whole.summary()), 5)


if __name__ == "__main__":
    unittest.main()
