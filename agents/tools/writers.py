"""Where metrics go: a line of JSON, TensorBoard, and what plugins bring.

A package brings writers by an entry point of the group `agents.stats_writer`: a
function of the run's config that returns a list of them.
"""

import json
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from agents.parts import plugins
from agents.tools.run_directory import RunDirectory, read_metrics

GROUP = "agents.stats_writer"
_OWN_PACKAGE = "batch-ppo"
Lines = Sequence[Mapping[str, Any]]


class Writer:
    """Takes what came of a phase. One of a plugin need only have `write`."""

    def begin(self, path: pathlib.Path, lines: Lines) -> None:
        """Prepare to write, once before all else.

        Args:
            path: of the run's folder.
            lines: phases, steps and metrics so far, if the run is resumed: what was
                written beyond them does not count any more.
        """

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Write what came of a phase.

        Args:
            phase: "train" or "eval".
            metrics: numbers by name, None where there is none.
            step: environment steps trained so far.
        """
        raise NotImplementedError


class MetricsFile(Writer):
    """One line of JSON for each phase, in `metrics.jsonl`."""

    _path: pathlib.Path

    def begin(self, path: pathlib.Path, lines: Lines) -> None:
        """Append to what is there; `cut_metrics` has made that end where it should."""
        self._path = RunDirectory(path).metrics

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Append a line."""
        line = json.dumps({"phase": phase, "step": step, **metrics})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class TensorBoard(Writer):
    """Scalars in a folder for each phase."""

    def __init__(self) -> None:
        """Write nowhere yet."""
        self._path = pathlib.Path()
        self._writers: dict[str, tf.summary.SummaryWriter] = {}

    def begin(self, path: pathlib.Path, lines: Lines) -> None:
        """Replace all events by those of the lines."""
        self._path = path
        for events in path.glob("*/events.out.tfevents.*"):
            events.unlink()
        for line in lines:
            metrics = {k: v for k, v in line.items() if k not in ("phase", "step")}
            self.write(line["phase"], metrics, line["step"])

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Write each number as a scalar."""
        if phase not in self._writers:
            path = str(self._path / phase)
            self._writers[phase] = tf.summary.create_file_writer(path)
        with self._writers[phase].as_default(step):
            for name, value in metrics.items():
                if value is not None:
                    tf.summary.scalar(name, value)
        self._writers[phase].flush()


class Guarded(Writer):
    """A writer of another package: once it fails, the run goes on without it."""

    def __init__(self, writer: Any, package: str):
        """Stand in front of a writer, which need not be a `Writer`."""
        self._writer = writer
        self._package = package

    def begin(self, path: pathlib.Path, lines: Lines) -> None:
        """Let the writer begin, if it cares to."""
        self._call("begin", path, lines)

    def write(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Let the writer write a copy."""
        self._call("write", phase, dict(metrics), step)

    def _call(self, name: str, *arguments: Any) -> None:
        try:
            if hasattr(self._writer, name):
                getattr(self._writer, name)(*arguments)
        except Exception as error:  # pylint: disable=broad-exception-caught
            print(
                f"The stats writer {type(self._writer).__name__} of the package "
                f"{self._package} failed, and is left out from now on: "
                f"{plugins.describe(error)}.",
                file=sys.stderr,
            )
            self._writer = None


def default_writers(config: Any = None) -> list[Writer]:
    """Return the writers of this package; its entry point."""
    del config
    return [MetricsFile(), TensorBoard()]


def find(config: Any) -> list[Writer]:
    """Return the writers of all packages, for the config of a run.

    Those of a plugin that fails are left out, and its fault is printed.
    """

    def make(function: Any, package: str) -> list[Writer]:
        made = function(config)
        if not isinstance(made, list | tuple) or not all(
            hasattr(writer, "write") for writer in made
        ):
            raise TypeError(
                f"it must return a list of objects with a method write, not {made!r}"
            )
        if package == _OWN_PACKAGE:
            return list(made)
        return [Guarded(writer, package) for writer in made]

    found: list[Writer] = []
    for plugin in plugins.load(GROUP, make):
        found += plugin.content or []
        if plugin.fault:
            print(plugin.fault, file=sys.stderr)
    return found


def cut_metrics(path: pathlib.Path, size: int) -> list[dict[str, Any]]:
    """Drop what a metrics file holds after `size` bytes, and return its lines."""
    if not path.exists():
        return []
    with path.open("r+b") as file:
        file.truncate(min(size, path.stat().st_size))
    return read_metrics(path)
