"""Runs that are killed at random moments and resumed, against one that never was."""

import contextlib
import json
import pathlib
import random
import shutil
import subprocess
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from agents.scripts import command_line
from agents.tools.faults import RunFault
from agents.tools.run_directory import RunDirectory, checkpoint_path
from scripts.soak import processes
from scripts.soak.processes import QUICK, Outcome, Training

# Runs of some seconds, with boundaries every tenth or so of it.
SETTINGS = {
    "gymnasium": {"steps": 24_000, "checkpoint_steps": 2_000, "eval_every": 6_000},
    "tensorflow": {
        "steps": 400_000,
        "checkpoint_steps": 40_000,
        "eval_every": 100_000,
        "num_agents": 16,
    },
    "jax": {
        "env": "gymnax:CartPole-v1",
        "steps": 400_000,
        "checkpoint_steps": 40_000,
        "eval_every": 100_000,
        "num_agents": 16,
    },
    "envpool": {"steps": 80_000, "checkpoint_steps": 8_000, "eval_every": 20_000},
}
_TRAINED = r"^train +step"
_START_SECONDS = 8
# They tell of the clock.
_EXEMPT = ("wall_seconds", "steps_per_second", "metrics_size")


class Trial(NamedTuple):
    """What came of a run that was killed.

    Attributes:
        moments: seconds of its training at which it was killed; those before the first
            one are a start.
        resumed_at: steps from which it went on; -1: from nothing.
        differences: names of what differs from the undisturbed run.
    """

    moments: list[float]
    resumed_at: list[int]
    differences: list[str]


class Kills:
    """Trials of one backend.

    Attributes:
        expected: variables and metrics at the end, without disturbance.
        seconds: from the first line of such a run to its end.
    """

    def __init__(self, backend: str, folder: pathlib.Path, settings: Mapping[str, Any]):
        """Train once without disturbance.

        Args:
            backend: of `SETTINGS`.
            folder: for the runs, which need not exist.
            settings: in place of those.
        """
        values = {"max_length": 200, **QUICK, **SETTINGS[backend], **settings}
        self._steps = int(values["steps"])
        self._arguments = ["--config=pendulum", f"--backend={backend}"]
        self._arguments += processes.options(values)
        self._folder = folder
        training = self._start()
        training.wait_for(_TRAINED)
        began = time.monotonic()
        _check(training.end())
        self.seconds = time.monotonic() - began
        self.expected = result(self._run())

    def trial(self, chance: random.Random, kills: int = 2) -> Trial:
        """Kill a run at random moments, resume it, and compare its end.

        Raises:
            RunFault: It could not be resumed, or left something behind.
        """
        shutil.rmtree(self._folder)
        moments: list[float] = []
        resumed_at: list[int] = []
        training = self._start()
        while len(moments) < kills:
            moment = self._kill(training, chance)
            run = self._run() if self._folder.exists() else None
            if run and run.is_complete(self._steps):
                break
            moments.append(moment)
            if run and run.usable:
                resumed_at.append(max(run.checkpoint_steps()))
                training = self._train(f"--timestamp={run.timestamp}")
            else:
                shutil.rmtree(self._folder, ignore_errors=True)
                resumed_at.append(-1)
                training = self._start()
        else:
            _check(training.end())
        if not moments:
            # Others in less time than the first, which may have had to compile.
            self.seconds *= 0.7
            return self.trial(chance, kills)
        found = result(self._run())
        names = sorted(found.keys() | self.expected.keys())
        different = [n for n in names if found.get(n) != self.expected.get(n)]
        return Trial(moments, resumed_at, different)

    def _kill(self, training: Training, chance: random.Random) -> float:
        """Kill a run while it starts, once in ten times, or while it trains."""
        moment = chance.uniform(-0.1, 1.0) * self.seconds
        if moment < 0:
            time.sleep(chance.uniform(0, _START_SECONDS))
        else:
            training.wait_for(_TRAINED)
            with contextlib.suppress(subprocess.TimeoutExpired):
                training.process.wait(moment)
        outcome = training.end(lambda running: running.process.kill())
        if outcome.left:
            raise RunFault(f"It left {outcome.left}.")
        return round(moment, 2)

    def _start(self) -> Training:
        return self._train(*self._arguments)

    def _train(self, *arguments: str) -> Training:
        return Training(str(self._folder), arguments)

    def _run(self) -> RunDirectory:
        (path,) = self._folder.iterdir()
        return RunDirectory(path)


def result(run: RunDirectory) -> dict[str, Any]:
    """Return the variables of the last checkpoint, bit by bit, and all metrics."""
    command_line.import_tensorflow()
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    newest = checkpoint_path(run.checkpoints, max(run.checkpoint_steps()))
    reader = tf.train.load_checkpoint(str(newest / "variables"))
    found = {
        name: np.asarray(reader.get_tensor(name)).tobytes()
        for name in reader.get_variable_to_shape_map()
        if not any(exempt in name for exempt in _EXEMPT)
    }
    for number, text in enumerate(run.metrics.read_text("utf-8").splitlines()):
        line = json.loads(text)
        found[f"line {number}"] = {k: v for k, v in line.items() if k not in _EXEMPT}
    return found


def _check(outcome: Outcome) -> None:
    if outcome.code or outcome.left:
        raise RunFault(f"A run ended with {outcome.code}:\n{outcome.output}")
