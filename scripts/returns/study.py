"""What each change of the settings is worth, as a page of the documentation."""

import json
import pathlib

import numpy as np

from scripts.returns import records
from scripts.returns.records import OURS, Record
from scripts.returns.tasks import STEPS, TASKS


def write(path: pathlib.Path) -> None:
    """Write a page beside a file of records, named like it."""
    page = path.with_suffix(".md")
    page.write_text(text(records.read(path), path.name), encoding="utf-8")
    print(f"Wrote {page}.")


def text(found: list[Record], file: str) -> str:
    """Return the page: a row for each change, a column for each task."""
    found = [run for run in found if run.trainer == OURS and run.steps == STEPS]
    tasks = [task for task in TASKS if any(run.task == task for run in found)]
    rows: dict[str, list[Record]] = {}
    for run in found:
        rows.setdefault(_name(run), []).append(run)
    lines = [
        "# Studies",
        "",
        f"Written by `python -m scripts.returns study` from [{file}]({file}). Each row "
        "is the presets with some settings changed; each number the mean score of the "
        "last evaluation over the seeds behind it, after a million steps. None of "
        "these seeds is one of those that [results.md](results.md) is measured on.",
        "",
        f"| settings | {' | '.join(tasks)} |",
        "| --- " * (len(tasks) + 1) + "|",
    ]
    for name in sorted(rows, key=lambda name: (name != _PRESET, name)):
        cells = (_cell([run for run in rows[name] if run.task == t]) for t in tasks)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_PRESET = "preset"


def _name(run: Record) -> str:
    changes = [f"{key}={json.dumps(value)}" for key, value in run.settings.items()]
    return " ".join(f"`{change}`" for change in sorted(changes)) or _PRESET


def _cell(runs: list[Record]) -> str:
    if not runs:
        return ""
    runs = sorted(runs, key=lambda run: run.seed)
    digits = 0 if abs(runs[0].score) >= 100 else 1
    scores = ", ".join(f"{run.score:,.{digits}f}" for run in runs)
    return f"**{np.mean([run.score for run in runs]):,.{digits}f}** ({scores})"
