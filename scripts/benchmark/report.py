"""Tables, files and charts of what was measured."""

import dataclasses
import importlib.metadata
import json
import os
import pathlib
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import rich.box
import rich.console
import rich.table

from scripts.benchmark.arithmetic import Summary

SUMMARY = ("median", "least", "most", "spread")
_PACKAGES = (
    "tensorflow",
    "gymnasium",
    "envpool",
    "jax",
    "gymnax",
    "brax",
    "stable-baselines3",
    "sbx-rl",
    "torch",
)


def table(title: str, first: str, caption: str | None = None) -> rich.table.Table:
    """Return a table with one column of text; `add_columns` adds those of numbers."""
    made = rich.table.Table(title=title, caption=caption, box=rich.box.MARKDOWN)
    made.add_column(first)
    return made


def add_columns(to: rich.table.Table, *names: str) -> None:
    """Add columns of numbers."""
    for name in names:
        to.add_column(name, justify="right")


def cells(summary: Summary) -> list[str]:
    """Return the cells of the columns `SUMMARY`, rates in steps per second."""
    return [
        *(f"{rate:,.0f}" for rate in (summary.median, summary.least, summary.most)),
        f"{summary.spread:.0%}",
    ]


def show(shown: rich.table.Table) -> None:
    """Print a table."""
    console = rich.console.Console(width=88)
    console.print(shown)


def write(path: pathlib.Path, results: Mapping[str, Any]) -> None:
    """Write results as JSON, with the machine and the versions that they belong to."""
    document = {"machine": machine(), "versions": versions(), **results}
    text = json.dumps(document, indent=1, default=dataclasses.asdict)
    path.write_text(text + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return what rates depend on: processor, cores, load of the last minute."""
    models = [
        line.partition(":")[2].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that take part, where they are installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def draw_bars(
    path: pathlib.Path, rates: Mapping[str, Sequence[float]], title: str
) -> None:
    """Draw medians as bars, with lines from the least rate to the most."""
    # pylint: disable-next=import-outside-toplevel
    from matplotlib.figure import Figure

    summaries = [Summary.of(values) for values in rates.values()]
    medians = [summary.median for summary in summaries]
    below = [summary.median - summary.least for summary in summaries]
    above = [summary.most - summary.median for summary in summaries]
    figure = Figure(figsize=(8, 1 + 0.4 * len(rates)), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.barh(list(rates), medians, xerr=(below, above), capsize=3)
    axes.bar_label(bars, [f"{median:,.0f}" for median in medians], padding=6)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    figure.savefig(path, dpi=150)
