"""The folder of a run, free of TensorFlow."""

import contextlib
import datetime
import fcntl
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.parts.settings import SettingError

TIMESTAMP = "%Y%m%dT%H%M%S"
PHASES = ("train", "eval")


class RunDirectory:
    """Names the files of a run; nothing in it depends on where it lies.

    Attributes:
        path: of the folder, `<logdir>/<timestamp>-<config>`.
    """

    def __init__(self, path: pathlib.Path):
        """Name the files below a path that need not exist."""
        self.path = path
        self.config = path / "config.yaml"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"

    @property
    def timestamp(self) -> str:
        """When the run began, as `--timestamp` takes it."""
        return self.path.name.partition("-")[0]

    @property
    def usable(self) -> bool:
        """Whether there is something to resume or to look at."""
        return self.config.is_file() and bool(self.checkpoint_steps())

    def checkpoint_steps(self) -> list[int]:
        """Return the steps of all checkpoints, the newest first."""
        return saved_steps(self.checkpoints)

    def best_step(self, scores: Mapping[int, float]) -> int | None:
        """Return the step whose evaluation was best, of those with a checkpoint.

        Args:
            scores: of evaluations, by step.
        """
        kept = scores.keys() & self.checkpoint_steps()
        return max(kept, key=lambda step: (scores[step], step), default=None)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other trainers out; the lock ends with this process, however it ends.

        Raises:
            SettingError: Another process trains in this folder.
        """
        with (self.path / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise SettingError(
                    f"The run {self.path} is being trained by another process: stop "
                    "that one first."
                ) from error
            yield

    def is_complete(self, steps: int) -> bool:
        """Whether so many steps are trained, saved and evaluated."""
        lines = read_metrics(self.metrics)
        evaluated = bool(lines) and lines[-1]["phase"] == "eval"
        saved = max(self.checkpoint_steps(), default=-1) >= steps
        return evaluated and lines[-1]["step"] >= steps and saved

    def create(self) -> None:
        """Make the folder.

        Raises:
            SettingError: It exists already, or can't be made.
        """
        try:
            self.path.mkdir(parents=True)
        except FileExistsError as error:
            raise SettingError(
                f"{self.path} exists already: another run began in the same second, so "
                "start this one again."
            ) from error
        except OSError as error:
            raise SettingError(f"{self.path} can't be made: {error}.") from error


def saved_steps(checkpoints: pathlib.Path) -> list[int]:
    """Return the steps of the checkpoints in a folder, the newest first."""
    names = [path.name[5:] for path in checkpoints.glob("step-*")]
    return sorted((int(name) for name in names if name.isdecimal()), reverse=True)


def checkpoint_path(checkpoints: pathlib.Path, step: int) -> pathlib.Path:
    """Return where the checkpoint of a step lies in that folder."""
    return checkpoints / f"step-{step}"


def new_run(logdir: pathlib.Path, config_name: str) -> RunDirectory:
    """Name the folder of a run that begins now; `create` makes it."""
    now = datetime.datetime.now().strftime(TIMESTAMP)
    return RunDirectory(logdir / f"{now}-{config_name}")


def find_run(logdir: pathlib.Path, timestamp: str) -> RunDirectory:
    """Find the run that began at a time.

    Raises:
        SettingError: There is none with that time, several, or none that is usable.
    """
    found = [RunDirectory(path) for path in sorted(logdir.glob("*-*")) if path.is_dir()]
    matching = [run for run in found if run.timestamp == timestamp]
    if not matching:
        usable = [run.timestamp for run in found if run.usable]
        newest = f" The newest is {max(usable)}." if usable else ""
        raise SettingError(f"There is no run {timestamp!r} under {logdir}.{newest}")
    if len(matching) > 1:
        names = " and ".join(run.path.name for run in matching)
        raise SettingError(f"Under {logdir} both {names} began at {timestamp}.")
    return _usable(matching[0])


def find_newest(path: pathlib.Path) -> RunDirectory:
    """Return the run at a path, or else the newest one below it.

    Raises:
        SettingError: There is no usable run.
    """
    if RunDirectory(path).config.is_file():
        return _usable(RunDirectory(path))
    runs = [RunDirectory(child) for child in path.glob("*-*")]
    usable = [run for run in runs if run.usable]
    if not usable:
        raise SettingError(f"There is no run with a checkpoint under {path}.")
    return max(usable, key=lambda run: run.path.name)


def read_metrics(path: pathlib.Path) -> list[dict[str, Any]]:
    """Return the lines of a metrics file up to one that is damaged, or cut off."""
    lines: list[dict[str, Any]] = []
    if not path.exists():
        return lines
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
            phase, step = line["phase"], line["step"]
            numbers = [value for key, value in line.items() if key != "phase"]
        except (ValueError, TypeError, LookupError, AttributeError):
            break
        if phase not in PHASES or not isinstance(step, int):
            break
        if not all(
            value is None or isinstance(value, int | float) for value in numbers
        ):
            break
        lines.append(line)
    return lines


def evaluations(lines: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Return the mean scores of evaluations by step, from lines of a metrics file."""
    return {
        line["step"]: line["mean_score"] for line in lines if line["phase"] == "eval"
    }


def _usable(run: RunDirectory) -> RunDirectory:
    if not run.usable:
        raise SettingError(
            f"The run {run.path} has no checkpoint or no config.yaml, so that it can't "
            "be used: start it anew."
        )
    return run
