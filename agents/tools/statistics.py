"""Scores of episodes, gathered over a phase."""

from typing import Any

import numpy as np

from agents.tools.simulation import Episodes


class EpisodeStatistics:
    """Score and length of every episode that ended in a phase."""

    def __init__(self) -> None:
        """Start with no episodes."""
        self.scores: list[float] = []
        self.lengths: list[int] = []

    def add(self, episodes: Episodes) -> None:
        """Take in the episodes of a simulation, as NumPy's arrays in order of time."""
        self.scores += episodes.score[episodes.ended].tolist()
        self.lengths += episodes.length[episodes.ended].astype(int).tolist()

    def summary(self) -> dict[str, Any]:
        """Return count, mean and deviation; None where no episode ended."""
        scores = np.array(self.scores, np.float64)
        return {
            "episodes": len(scores),
            "mean_score": float(scores.mean()) if len(scores) else None,
            "std_score": float(scores.std()) if len(scores) else None,
            "mean_length": float(np.mean(self.lengths)) if len(scores) else None,
        }
