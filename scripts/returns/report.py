"""Tables and learning curves of finished runs, as a page of the documentation."""

import math
import pathlib
from collections.abc import Sequence

import numpy as np

from scripts.returns import records, runs, zoo
from scripts.returns.records import OURS, Record
from scripts.returns.tasks import STEPS, TASKS

_RESAMPLES = 10_000


def write(path: pathlib.Path) -> None:
    """Write a page and its picture beside a file of records, named like it."""
    found = records.read(path)
    page, picture = path.with_suffix(".md"), path.with_suffix(".png")
    page.write_text(text(found, path.name, picture.name), encoding="utf-8")
    draw(found, picture)
    print(f"Wrote {page} and {picture}.")


def text(found: Sequence[Record], file: str, picture: str) -> str:
    """Return the page."""
    ours, others = _ours(found), _others(found)
    parts = [
        "# Returns",
        f"Written by `python -m scripts.returns report` from [{file}]({file}), which "
        "has a line for each run; `python -m scripts.returns run` makes the runs.",
        "Each run trains for a million steps in EnvPool's version of the environment "
        "and ends with an evaluation of at least 30 whole episodes by the policy's "
        "mode, whose mean is the score. All seeds that were run stand here. IQM is the "
        "mean of the "
        "middle half of the scores, with its 95 % interval by bootstrap over the seeds "
        "(Agarwal et al., arXiv:2108.13264). Seconds are those of a run on one core of "
        "a machine that often did other work as well.",
        table(ours),
    ]
    if others:
        parts += [
            "## Stable-Baselines3",
            "By the settings that the RL Zoo tuned for each task, in Gymnasium's "
            "version of the environment, one core; evaluated in the same way.",
            table(others),
        ]
    parts += [
        "## Learning curves",
        "Mean over seeds of the evaluations, with the least and the most behind it; "
        f"dashed: what is asked for.\n\n![learning curves]({picture})",
    ]
    return "\n\n".join(parts) + "\n"


def table(found: dict[str, list[Record]]) -> str:
    """Return a row for each task."""
    lines = [
        "| task | mean | deviation | IQM | 95 % | asked | aim | seconds | each seed |",
        "| --- " * 9 + "|",
    ]
    for task, mark in TASKS.items():
        if task not in found:
            continue
        scores = np.array([record.score for record in found[task]])
        low, high = interval(scores)
        seconds = np.median([record.seconds for record in found[task]])
        seeds = ", ".join(f"{r.run.seed}: {_number(r.score)}" for r in found[task])
        deviation = scores.std(ddof=1) if len(scores) > 1 else math.nan
        cells = (
            f"{found[task][0].run.env}",
            f"**{_number(scores.mean())}**",
            _number(deviation),
            _number(interquartile_mean(scores)),
            f"{_number(low)} to {_number(high)}",
            _number(mark.least),
            _number(mark.aim),
            f"{seconds:,.0f}",
            seeds,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean of the middle half of scores [..., runs], as [...]."""
    ordered = np.sort(scores, -1)
    cut = ordered.shape[-1] // 4
    return ordered[..., cut : ordered.shape[-1] - cut].mean(-1)


def interval(scores: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of the IQM of scores [runs]."""
    drawn = np.random.default_rng(0).choice(scores, (_RESAMPLES, len(scores)))
    low, high = np.percentile(interquartile_mean(drawn), [2.5, 97.5])
    return float(low), float(high)


def draw(found: Sequence[Record], path: pathlib.Path) -> None:
    """Draw the curve of each task."""
    # pylint: disable-next=import-outside-toplevel
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 10), layout="constrained")
    axes, lines = figure.subplots(4, 3).flat, {}
    curves = {OURS: _ours(found), zoo.TRAINER: _others(found)}
    for axis, (task, mark) in zip(axes, TASKS.items(), strict=False):
        axis.set_title(task.replace("_", " "))
        axis.axhline(mark.least, linestyle="--", color="gray", linewidth=1)
        for trainer, of_tasks in curves.items():
            if task in of_tasks:
                made = of_tasks[task]
                scores = np.array([[s for _, s in record.scores] for record in made])
                steps = np.array([step for step, _ in made[0].scores]) / 1e6
                (line,) = axis.plot(steps, scores.mean(0))
                lines[trainer] = line
                axis.fill_between(
                    steps,
                    scores.min(0),
                    scores.max(0),
                    alpha=0.2,
                    color=line.get_color(),
                )
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(list(lines.values()), list(lines), loc="lower right", frameon=False)
    for axis in axes[len(TASKS) :]:
        axis.remove()
    figure.supxlabel("million steps")
    figure.savefig(path, dpi=100)


def _ours(found: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the runs of presets as they are now."""
    made = [record for record in found if record.run.trainer == OURS]
    return _whole([record for record in made if not runs.changes_of(record.run)])


def _others(found: Sequence[Record]) -> dict[str, list[Record]]:
    return _whole([record for record in found if record.run.trainer == zoo.TRAINER])


def _whole(found: Sequence[Record]) -> dict[str, list[Record]]:
    return records.by_task([record for record in found if record.run.steps == STEPS])


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"
