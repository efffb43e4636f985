"""Runs that are long in one way: many episodes, checkpoints, faults, or bytes."""

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from typing import Any

from agents.tools.faults import RunFault
from agents.tools.run_directory import RunDirectory
from scripts.soak import processes
from scripts.soak.processes import QUICK, Training

_KEEP = 3
# Of what it holds at most, from the first half of a run to the second.
_MOST_GROWTH = 0.05


@dataclasses.dataclass(frozen=True)
class Long:
    """A run.

    Attributes:
        text: what is long about it.
        settings: beside those of a quick run.
        short: those of its short form.
        env: name in `scripts.soak.environments`; None: the pendulum.
        arguments: of the command.
    """

    text: str
    settings: Mapping[str, Any]
    short: Mapping[str, Any]
    env: str | None = None
    arguments: tuple[str, ...] = ()


LONG = {
    "episodes": Long(
        "a million episodes of one step",
        {"steps": 1_000_000, "checkpoint_steps": 100_000, "eval_every": 500_000},
        {"steps": 8192, "checkpoint_steps": 4096, "eval_every": 8192},
        env="length_1",
    ),
    "rotation": Long(
        "600 checkpoints: as many as in 50 hours with one every five minutes",
        {"steps": 307_200, "checkpoint_steps": 512, "eval_every": 10_240},
        {"steps": 10_240, "checkpoint_steps": 512, "eval_every": 5_120},
        arguments=("--backend=tensorflow",),
    ),
    "workers": Long(
        "workers that fail in any way, once in 300 steps of an environment",
        {"steps": 20_000, "restart_workers": 1000, "timeout": 5},
        {"steps": 2048, "restart_workers": 1000, "timeout": 5},
        env="AtRandom",
    ),
    "large": Long(
        "observations of a megabyte",
        {"steps": 20_480, "checkpoint_steps": 5120, "eval_every": 20_480},
        {"steps": 512, "checkpoint_steps": 256, "eval_every": 512},
        env="Large",
    ),
}
# A horizon of such observations is to fit in memory.
_SMALL_HORIZON = {"large": {"horizon": 8, "network": "convolutional", "batch_size": 8}}


def run(name: str, folder: pathlib.Path, short: bool = False) -> str:
    """Train, check what is left, and return a sentence about it.

    Raises:
        RunFault: Something is not as it should be.
    """
    long = LONG[name]
    settings = {**QUICK, "max_length": 20, **_SMALL_HORIZON.get(name, {})}
    settings |= long.short if short else long.settings
    if long.env:
        settings["env"] = f"scripts.soak.environments:{long.env}"
    arguments = ["--config=pendulum", *processes.options(settings), *long.arguments]
    training = Training(f"{folder}/runs", arguments)
    peaks = training.watch_memory()
    outcome = training.end(seconds=36_000)
    if outcome.code or outcome.left:
        raise RunFault(f"It ended with {outcome.code}:\n{outcome.output}")
    (path,) = (folder / "runs").iterdir()
    return _verdict(long, RunDirectory(path), int(settings["steps"]), peaks)


def _verdict(long: Long, directory: RunDirectory, steps: int, peaks: list[int]) -> str:
    text = directory.metrics.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    trained = [line for line in lines if line["phase"] == "train"]
    if trained[-1]["step"] < steps:
        raise RunFault(f"It ended at step {trained[-1]['step']}, not {steps}.")
    checkpoints = directory.checkpoint_steps()
    if not _KEEP <= len(checkpoints) <= _KEEP + 1 and len(trained) >= _KEEP:
        raise RunFault(f"It left {len(checkpoints)} checkpoints.")
    episodes = sum(line["episodes"] for line in trained)
    restarts = trained[-1].get("worker_restarts")
    half = len(peaks) // 2
    growth = max(peaks[half:]) / max(peaks[: half + 1]) - 1 if peaks else 0.0
    if growth > _MOST_GROWTH:
        raise RunFault(f"Its memory grew by {growth:.1%} in the second half.")
    return (
        f"{long.text}: {episodes:,} episodes in {trained[-1]['step']:,} steps, "
        f"{len(trained)} checkpoints of which {len(checkpoints)} are left, "
        f"{f'{restarts} restarts, ' if restarts is not None else ''}"
        f"memory in the second half {growth:+.1%} above the first"
    )
