"""What each change of the settings is worth, as a page of the documentation."""

import json
import pathlib

import numpy as np

from scripts.returns import records, runs
from scripts.returns.records import OURS, Record, Run
from scripts.returns.tasks import STEPS, TASKS


def write(path: pathlib.Path) -> None:
    """Write a page beside a file of records, named like it."""
    page = path.with_suffix(".md")
    page.write_text(text(records.read(path), path.name), encoding="utf-8")
    print(f"Wrote {page}.")


def text(found: list[Record], file: str) -> str:
    """Return the page: a row for each change, a column for each task."""
    ours = [r for r in found if r.run.trainer == OURS and r.run.steps == STEPS]
    tasks = [task for task in TASKS if any(r.run.task == task for r in ours)]
    rows: dict[str, list[Record]] = {}
    for record in ours:
        rows.setdefault(_name(record.run), []).append(record)
    lines = [
        "# Studies",
        "",
        f"Written by `python -m scripts.returns study` from [{file}]({file}). Each row "
        "is the presets, as they are now, with some settings changed; each number the "
        "mean score of the last evaluation over the seeds behind it, after a million "
        "steps. None of these seeds is one of those that [results.md](results.md) is "
        "measured on.",
        "",
        f"| settings | {' | '.join(tasks)} |",
        "| --- " * (len(tasks) + 1) + "|",
    ]
    for name in sorted(rows, key=lambda name: (name != _PRESET, name)):
        cells = (_cell([r for r in rows[name] if r.run.task == t]) for t in tasks)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_PRESET = "preset"


def _name(run: Run) -> str:
    changes = runs.changes_of(run).items()
    names = sorted(f"`{key}={json.dumps(value)}`" for key, value in changes)
    return " ".join(names) or _PRESET


def _cell(found: list[Record]) -> str:
    if not found:
        return ""
    scores = [record.score for record in sorted(found, key=lambda r: r.run.seed)]
    digits = 0 if abs(scores[0]) >= 100 else 1
    each = ", ".join(f"{score:,.{digits}f}" for score in scores)
    return f"**{np.mean(scores):,.{digits}f}** ({each})"
