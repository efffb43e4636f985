"""Finished runs, one to a line of a file that grows from session to session."""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from agents.parts.settings import field_values
from agents.scripts.config import Config

OURS = "batch-ppo"
# What a run has a place of its own for.
FIXED = ("env", "seed", "steps")


@dataclasses.dataclass(frozen=True)
class Run:
    """What is trained; equal runs need not be measured twice.

    Attributes:
        trainer: `batch-ppo`, or the library that it is compared with.
        task: name of the preset.
        env: id of the environment.
        seed: of the run.
        steps: environment steps to train.
        settings: all others, with those of the preset.
    """

    trainer: str
    task: str
    env: str
    seed: int
    steps: int
    settings: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """What came of a run.

    Attributes:
        run: what was trained.
        scores: mean score of each evaluation, as (step, score).
        deviation: of the scores of episodes in the last evaluation.
        episodes: in the last evaluation.
        seconds: from start to end.
        revision: of this project.
    """

    run: Run
    scores: list[tuple[int, float]]
    deviation: float
    episodes: int
    seconds: float
    revision: str

    @property
    def score(self) -> float:
        """Mean score of the last evaluation."""
        return self.scores[-1][1]


def settings_of(config: Config) -> dict[str, Any]:
    """Return the settings of a config as a record holds them."""
    values = {**field_values(config), **field_values(config.hyperparameters)}
    left_out = ("hyperparameters", *FIXED)
    kept = {name: value for name, value in values.items() if name not in left_out}
    return json.loads(json.dumps(kept))  # Lists, as they are read again.


def append(path: pathlib.Path, record: Record) -> None:
    """Add a line, with one write, so that several processes may."""
    outcome = dataclasses.asdict(record)
    line = outcome.pop("run") | outcome
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def read(path: pathlib.Path) -> list[Record]:
    """Return all records of a file, none where there is no file.

    A setting that came to this project after a run had its default then.
    """
    if not path.exists():
        return []
    return [_record(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def by_task(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return records by task, each list in order of seeds."""
    found: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.run.seed):
        found.setdefault(record.run.task, []).append(record)
    return found


def _record(line: dict[str, Any]) -> Record:
    run = Run(**{field.name: line.pop(field.name) for field in dataclasses.fields(Run)})
    if run.trainer == OURS:
        run.settings.update(settings_of(Config()) | run.settings)
    return Record(run, **line)
