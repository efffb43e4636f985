"""Whole trainings by another revision of this project and by this one, in turns.

What counts is the time from the first line about training to the last, checkpoints,
evaluations and checks included, as the command `train` spends it.

    python -m scripts.benchmark revisions --before=HEAD~1 -- --config=pendulum
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from agents.scripts import command_line
from agents.tools.faults import RunFault

_ROOT = pathlib.Path(__file__).parents[2]


def main(arguments: Sequence[str]) -> None:
    """Measure, and print the rates and what they lost."""
    parser = command_line.Parser("benchmark revisions", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--before", required=True, help="commit to compare with")
    parser.add_argument("--turns", type=command_line.positive, default=3)
    parser.add_argument("train", nargs="+", help="arguments of train, after --")
    options = parser.parse_args(arguments)
    with worktree(options.before) as before:
        trees = {options.before: before, "here": _ROOT}
        rates: dict[str, list[float]] = {name: [] for name in trees}
        for turn in range(options.turns):
            for name, tree in trees.items():
                rates[name].append(rate(tree, options.train))
                print(f"turn {turn + 1}  {name}: {rates[name][-1]:,.0f}", flush=True)
    before, after = (statistics.median(values) for values in rates.values())
    print(f"{before:,.0f} and {after:,.0f} steps/s: {after / before - 1:+.1%}")


def rate(tree: pathlib.Path, arguments: Sequence[str]) -> float:
    """Return the steps per second of a training by the sources in a folder.

    Raises:
        RunFault: It failed; with what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "agents.scripts.train", f"--logdir={folder}"]
        done = subprocess.run(
            [*command, *arguments],
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RunFault(f"{tree} failed:\n{done.stdout}{done.stderr}")
        (path,) = pathlib.Path(folder).glob("*/metrics.jsonl")
        return rate_of(path.read_text(encoding="utf-8"))


def rate_of(metrics: str) -> float:
    """Return the steps per second between the first line about training and the last.

    Raises:
        RunFault: There is one such line only.
    """
    lines = [json.loads(line) for line in metrics.splitlines()]
    trained = [line for line in lines if line["phase"] == "train"]
    if len(trained) < 2:
        raise RunFault("The training is too short: it needs two checkpoints.")
    first, last = trained[0], trained[-1]
    seconds = last["wall_seconds"] - first["wall_seconds"]
    return (last["step"] - first["step"]) / seconds


@contextlib.contextmanager
def worktree(revision: str) -> Iterator[pathlib.Path]:
    """Have the sources of a revision in a folder.

    Raises:
        RunFault: There is no such revision.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tree")
        _git("worktree", "add", "--detach", str(path), revision)
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def _git(*arguments: str) -> None:
    command = ["git", "-C", str(_ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFault(f"{' '.join(command)} failed: {done.stderr.strip()}")
