"""Trainings of the example package's configs, each in a process of its own."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from agents.tools.faults import RunFault

CONFIGS = pathlib.Path("examples/agents-trainer-plugin/agents_trainer_plugin")
DQN = str(CONFIGS / "dqn/dqn_cartpole.yaml")


class Training(NamedTuple):
    """What came of a training.

    Attributes:
        lines: of its metrics file.
        seconds: from the start of the command to its end.
    """

    lines: list[dict[str, Any]]
    seconds: float

    def evaluations(self) -> list[tuple[int, float]]:
        """Return step and mean score of each evaluation."""
        return [
            (x["step"], x["mean_score"]) for x in self.lines if x["phase"] == "eval"
        ]

    def rate(self) -> float:
        """Return the steps per second between the first line on training and the last.

        Raises:
            RunFault: There is one such line only.
        """
        trained = [line for line in self.lines if line["phase"] == "train"]
        if len(trained) < 2:
            raise RunFault("The training is too short: it needs two checkpoints.")
        seconds = trained[-1]["wall_seconds"] - trained[0]["wall_seconds"]
        return (trained[-1]["step"] - trained[0]["step"]) / seconds


def train(config: str, *options: str) -> Training:
    """Train by the command that people use.

    Raises:
        RunFault: It failed; with what it printed.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "agents.scripts.train", f"--config={config}"]
        command += [f"--logdir={folder}", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RunFault(f"{' '.join(command)} failed:\n{done.stderr.rstrip()}")
        seconds = time.monotonic() - began
        (path,) = pathlib.Path(folder).glob("*/metrics.jsonl")
        text = path.read_text(encoding="utf-8")
    return Training([json.loads(line) for line in text.splitlines()], seconds)
