"""Scores of a phase."""

import unittest

import numpy as np

from agents.tools.simulation import Episodes
from agents.tools.statistics import EpisodeStatistics


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


if __name__ == "__main__":
    unittest.main()
