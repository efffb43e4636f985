"""Finished runs, one to a line of a file that grows from session to session."""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any

OURS = "batch-ppo"


@dataclasses.dataclass(frozen=True)
class Record:
    """What came of a run.

    Attributes:
        trainer: `batch-ppo`, or the library that it is compared with.
        task: name of the preset.
        env: id of the environment.
        seed: of the run.
        steps: environment steps trained.
        settings: what was changed from the preset.
        scores: mean score of each evaluation, as (step, score).
        deviation: of the scores of episodes in the last evaluation.
        episodes: in the last evaluation.
        seconds: from start to end.
        revision: of this project.
    """

    trainer: str
    task: str
    env: str
    seed: int
    steps: int
    settings: dict[str, Any]
    scores: list[tuple[int, float]]
    deviation: float
    episodes: int
    seconds: float
    revision: str

    @property
    def score(self) -> float:
        """Mean score of the last evaluation."""
        return self.scores[-1][1]

    @property
    def key(self) -> tuple[Any, ...]:
        """What a run is told apart by."""
        return key(self.trainer, self.task, self.seed, self.steps, self.settings)


def key(
    trainer: str, task: str, seed: int, steps: int, settings: dict[str, Any]
) -> tuple[Any, ...]:
    """Return what a run is told apart by."""
    return trainer, task, seed, steps, json.dumps(settings, sort_keys=True)


def append(path: pathlib.Path, record: Record) -> None:
    """Add a line, with one write, so that several processes may."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(dataclasses.asdict(record)) + "\n")


def read(path: pathlib.Path) -> list[Record]:
    """Return all records of a file, none where there is no file."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return [Record(**json.loads(line)) for line in lines]


def by_task(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return records by task, each list in order of seeds."""
    found: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seed):
        found.setdefault(record.task, []).append(record)
    return found
