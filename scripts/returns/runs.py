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
from agents.scripts.config import Config
from agents.tools.faults import RunFault
from scripts.returns.records import FIXED, OURS, Record, Run, settings_of

EVERY, EPISODES = 100_000, 30


def plan(task: str, seed: int, steps: int, changes: Mapping[str, Any]) -> Run:
    """Return a run of a preset on EnvPool's environments.

    Args:
        task: name of the preset.
        seed: of the run.
        steps: environment steps to train.
        changes: settings in place of those of the preset.

    Raises:
        SettingError: One of the changes is unknown or out of its range.
    """
    config = preset(task).replace(**changes)
    return Run(OURS, task, config.env, seed, steps, settings_of(config))


def changes_of(run: Run) -> dict[str, Any]:
    """Return the settings in which a run differs from its preset, as that is now."""
    usual = settings_of(preset(run.task))
    return {k: v for k, v in run.settings.items() if v != usual.get(k, ...)}


def preset(task: str) -> Config:
    """Return a preset as it is measured."""
    return getattr(configs, task)().replace(
        eval_every=EVERY, eval_episodes=EPISODES, backend="envpool"
    )


def train(run: Run) -> Record:
    """Train in a process of its own.

    Raises:
        RunFault: The training failed; with what it printed.
    """
    own = settings_of(getattr(configs, run.task)())
    changes = {k: v for k, v in run.settings.items() if v != own[k]}
    changes |= {"steps": run.steps, "seed": run.seed}
    began, commit = time.monotonic(), revision()
    with tempfile.TemporaryDirectory() as folder:
        options = [f"--set={key}={json.dumps(value)}" for key, value in changes.items()]
        call(
            "agents.scripts.train",
            f"--config={run.task}",
            f"--logdir={folder}",
            *options,
        )
        (metrics,) = pathlib.Path(folder).glob("*/metrics.jsonl")
        lines = [json.loads(line) for line in metrics.read_text("utf-8").splitlines()]
    evaluations = [line for line in lines if line["phase"] == "eval"]
    return Record(
        run,
        scores=[(line["step"], line["mean_score"]) for line in evaluations],
        deviation=evaluations[-1]["std_score"],
        episodes=evaluations[-1]["episodes"],
        seconds=time.monotonic() - began,
        revision=commit,
    )


def parse(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the settings of `--set`, as they go into a run.

    Raises:
        SettingError: One is no assignment, or says what a run has a place for.
    """
    settings = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or name in FIXED:
            raise SettingError(
                f"--set takes KEY=VALUE, other than {', '.join(FIXED)}, but got "
                f"{text!r}."
            )
        settings[name] = config_file.parse_value(value)
    return settings


def call(module: str, *arguments: str) -> str:
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
