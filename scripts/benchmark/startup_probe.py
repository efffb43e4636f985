"""The command `train` with a clock in it, up to the end of its first evaluation."""

import json
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from agents.scripts import command_line, train

COMMAND = "startup-probe"


class Phases:
    """Seconds of a start, by phase; the first call of a function compiles it."""

    def __init__(self, began: float):
        """Count from a reading of the monotonic clock."""
        self._began = began
        self._seconds: dict[str, float] = {}
        self._calls: dict[str, list[float]] = {}

    def end(self, name: str) -> None:
        """End a phase: all time that belongs to no phase before it."""
        passed = time.monotonic() - self._began
        self._seconds[name] = passed - sum(self._seconds.values())

    def add_call(self, name: str, seconds: float) -> None:
        """Count one of several calls of the same function."""
        self._calls.setdefault(name, []).append(seconds)

    def split(self) -> dict[str, float]:
        """Return the seconds of all phases up to now; the last one is training."""
        self.end("training")
        compiling = sum(map(compilation_seconds, self._calls.values()))
        result = self._seconds | {"training": self._seconds["training"] - compiling}
        result["compiling"] = compiling
        return result


def compilation_seconds(calls: Sequence[float]) -> float:
    """Return by how much the first call took longer than those after it, in seconds."""
    later = statistics.median(calls[1:]) if len(calls) > 1 else 0.0
    return max(calls[0] - later, 0.0)


def main(arguments: Sequence[str]) -> None:
    """Train by arguments of `train`, after the time at which the process was started.

    Prints the split as a line of JSON in place of the first evaluation, and ends.
    """
    phases = Phases(float(arguments[0]))
    command_line.import_tensorflow()
    from agents.scripts import training  # pylint: disable=import-outside-toplevel

    phases.end("import")
    training.TrainingGraph, training.Evaluation = _clocked(phases)
    train.main(arguments[1:])


def _clocked(phases: Phases) -> tuple[Any, Any]:
    """Return the two classes that hold compiled functions, with a clock in them."""
    # pylint: disable=import-outside-toplevel
    from agents.tools.evaluation import Evaluation
    from agents.tools.training_graph import TrainingGraph

    evaluations = []

    class ClockedGraph(TrainingGraph):
        """Traces everything before it warms up."""

        def warm_up(self, seed):
            """Warm up, after all has been traced."""
            phases.end("building")
            self.trace()
            evaluations[0].trace()
            phases.end("tracing")
            super().warm_up(seed)

        def iterate(self, carry, seeds, progress, last):
            """Iterate, and note how long each of the iterations took."""
            began = time.monotonic()
            result = super().iterate(carry, seeds, progress, last)
            phases.add_call("iterate", (time.monotonic() - began) / len(seeds))
            return result

    class ClockedEvaluation(Evaluation):
        """Plays once, and ends the process."""

        def __init__(self, *arguments):
            """Announce itself."""
            super().__init__(*arguments)
            evaluations.append(self)

        def run(self, seed, between_chunks=lambda: None):
            """Play, note how long each chunk took, and print the split."""
            marks = []
            super().run(seed, lambda: marks.append(time.monotonic()))
            marks.append(time.monotonic())
            for before, after in zip(marks, marks[1:], strict=False):
                phases.add_call("play", after - before)
            print(json.dumps(phases.split()), flush=True)
            sys.exit()

    return ClockedGraph, ClockedEvaluation
