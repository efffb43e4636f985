"""One run of this project, by the command that people use, on a core of its own."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agents.parts.settings import SettingError
from agents.scripts import config_file, configs
from agents.tools.faults import RunFault
from scripts.returns.records import OURS, Record

EVERY, EPISODES = 100_000, 30
_FIXED = ("env", "seed", "steps")


def train(task: str, seed: int, steps: int, settings: Mapping[str, Any]) -> Record:
    """Train a preset on EnvPool's environments.

    Args:
        task: name of the preset.
        seed: of the run.
        steps: environment steps to train.
        settings: in place of those of the preset.

    Raises:
        RunFault: The training failed; with what it printed.
    """
    base = {"eval_every": EVERY, "eval_episodes": EPISODES, "backend": "envpool"}
    changes = base | {"steps": steps, "seed": seed} | dict(settings)
    began, commit = time.monotonic(), revision()
    with tempfile.TemporaryDirectory() as folder:
        options = [f"--set={key}={json.dumps(value)}" for key, value in changes.items()]
        run("agents.scripts.train", f"--config={task}", f"--logdir={folder}", *options)
        (metrics,) = pathlib.Path(folder).glob("*/metrics.jsonl")
        lines = [json.loads(line) for line in metrics.read_text("utf-8").splitlines()]
    evaluations = [line for line in lines if line["phase"] == "eval"]
    return Record(
        trainer=OURS,
        task=task,
        env=env_of(task),
        seed=seed,
        steps=steps,
        settings=dict(settings),
        scores=[(line["step"], line["mean_score"]) for line in evaluations],
        deviation=evaluations[-1]["std_score"],
        episodes=evaluations[-1]["episodes"],
        seconds=time.monotonic() - began,
        revision=commit,
    )


def parse(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the settings of `--set`, as they go into a record.

    Raises:
        SettingError: One is no assignment, or says what a record has a place for.
    """
    settings = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or name in _FIXED:
            raise SettingError(
                f"--set takes KEY=VALUE, other than {', '.join(_FIXED)}, but got "
                f"{text!r}."
            )
        settings[name] = config_file.parse_value(value)
    return settings


def env_of(task: str) -> str:
    """Return the id of the environment of a task."""
    return getattr(configs, task)().env


def run(module: str, *arguments: str) -> str:
    """Run a module in a process of its own, and return what it printed.

    Raises:
        RunFault: It failed; with its last words.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFault(f"{' '.join(command)} failed:\n{done.stderr.rstrip()}")
    return done.stdout


def revision() -> str:
    """Return the short hash of the commit that is checked out."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
