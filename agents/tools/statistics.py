"""What is gathered over a phase."""

import json
from collections.abc import Mapping
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


class TrainingStatistics:
    """Episodes, and what the updates reported, since the last boundary.

    Attributes:
        episodes: those that ended.
    """

    def __init__(self, text: bytes = b""):
        """Start with nothing, or with what `to_text` returned."""
        stored = json.loads(text) if text else {}
        self.episodes = EpisodeStatistics()
        self.episodes.scores += stored.get("scores", [])
        self.episodes.lengths += stored.get("lengths", [])
        self._metrics: dict[str, list[float]] = stored.get("metrics", {})

    @property
    def begun(self) -> bool:
        """Whether anything was taken in."""
        return bool(self._metrics)

    def add(self, episodes: Episodes, metrics: Mapping[str, np.ndarray]) -> None:
        """Take in what came of some iterations, metrics [iterations] by name."""
        self.episodes.add(episodes)
        for name, values in metrics.items():
            self._metrics.setdefault(name, []).extend(values.tolist())

    def summary(self) -> dict[str, Any]:
        """Return the summary of the episodes, and the mean of each metric."""
        means = {name: float(np.mean(values)) for name, values in self._metrics.items()}
        return self.episodes.summary() | means

    def to_text(self) -> bytes:
        """Return all that was taken in, so that a checkpoint can hold it."""
        stored = {
            "scores": self.episodes.scores,
            "lengths": self.episodes.lengths,
            "metrics": self._metrics,
        }
        return json.dumps(stored).encode()
