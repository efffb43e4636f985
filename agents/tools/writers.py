"""Where metrics go: each writer has `write(phase, metrics, step)`."""

import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from agents.tools.run_directory import read_metrics


class MetricsFile:
    """One line of JSON for each phase."""

    def __init__(self, path: pathlib.Path):
        """Append to a file, which need not exist yet."""
        self._path = path

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Append a line."""
        line = json.dumps({"phase": phase, "step": step, **metrics})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def size(self) -> int:
        """Return the bytes written so far, for `cut` to return to."""
        return self._path.stat().st_size if self._path.exists() else 0

    def cut(self, size: int) -> list[dict[str, Any]]:
        """Drop what was written after `size` bytes, and return the lines before."""
        if not self._path.exists():
            return []
        with self._path.open("r+b") as file:
            file.truncate(min(size, self.size()))
        return read_metrics(self._path)


class TensorBoard:
    """Scalars in a folder for each phase."""

    def __init__(self, directory: pathlib.Path):
        """Write below a directory."""
        self._directory = directory
        self._writers: dict[str, tf.summary.SummaryWriter] = {}

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Write each number as a scalar."""
        if phase not in self._writers:
            path = str(self._directory / phase)
            self._writers[phase] = tf.summary.create_file_writer(path)
        with self._writers[phase].as_default(step):
            for name, value in metrics.items():
                if value is not None:
                    tf.summary.scalar(name, value)
        self._writers[phase].flush()

    def rewrite(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Replace all events by those of the given lines of a metrics file."""
        for path in self._directory.glob("*/events.out.tfevents.*"):
            path.unlink()
        for line in lines:
            metrics = {k: v for k, v in line.items() if k not in ("phase", "step")}
            self.write(line["phase"], metrics, line["step"])
