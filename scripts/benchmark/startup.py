"""Seconds from the shell to the first evaluation of `train`, cold and warm.

Cold: the compilation cache (the folder in `AGENTS_XLA_CACHE`) is empty. Warm: the start
after it, with the same folder. The total is that of the command itself. Its split is
that of a second process, with a clock in it: import of Python and TensorFlow; building
environments, network and functions; tracing these; compiling them, which is by how much
their first calls take longer than later ones; training and evaluation, the rest.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

import rich.table

from agents.scripts import command_line
from agents.tools.faults import RunFault
from scripts.benchmark import report, startup_probe
from scripts.benchmark.arithmetic import Summary

CACHE = "AGENTS_XLA_CACHE"
PHASES = ("import", "building", "tracing", "compiling", "training")
TOTAL = "total"
_TRAIN = [sys.executable, "-m", "agents.scripts.train"]
_PROBE = [sys.executable, "-m", "scripts.benchmark", startup_probe.COMMAND]

Seconds = dict[str, dict[str, list[float]]]


def main(arguments: Sequence[str]) -> None:
    """Start again and again, and print a table."""
    options = parse(arguments)
    train = [f"--config={options.config}", "--logdir="]
    train += [f"--set={text}" for text in options.set]
    if options.backend:
        train.append(f"--backend={options.backend}")
    seconds = measure(train, options.turns)
    report.show(table(seconds, " ".join(["train", *train])))
    if options.json:
        report.write(options.json, {"command": train, "seconds": seconds})


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser("benchmark startup", description=__doc__)
    parser.add_argument("--config", default="pendulum", help="of train")
    parser.add_argument(
        "--backend", default="tensorflow", help="of train; empty: as in the config"
    )
    command_line.add_set(parser, "of train")
    parser.add_argument(
        "--turns", type=command_line.positive, default=3, help="cold and warm starts"
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for all results")
    return parser.parse_args(arguments)


def measure(train: Sequence[str], turns: int) -> Seconds:
    """Return the seconds of all turns, by state of the cache and by phase.

    Raises:
        RunFault: The command failed.
    """
    seconds: Seconds = {
        state: {phase: [] for phase in (TOTAL, *PHASES)} for state in ("cold", "warm")
    }
    for turn in range(turns):
        with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as two:
            for state, phases in seconds.items():
                phases[TOTAL].append(_seconds_to_evaluation(train, own))
                for phase, value in _split(train, two).items():
                    phases[phase].append(value)
                shown = f"{state}: {phases[TOTAL][-1]:.2f} s"
                print(f"turn {turn + 1}/{turns}  {shown}", file=sys.stderr)
    return seconds


def table(
    seconds: Mapping[str, Mapping[str, Sequence[float]]], title: str
) -> rich.table.Table:
    """Return a row for each phase, medians and spread of cold and warm starts."""
    made = report.table(f"{title}: seconds to the first evaluation", "phase")
    for state in seconds:
        report.add_columns(made, state, "least", "most")
    for phase in (*PHASES, TOTAL):
        row = [phase]
        for phases in seconds.values():
            row += [f"{value:.2f}" for value in Summary.of(phases[phase])]
        made.add_row(*row)
    return made


def _seconds_to_evaluation(train: Sequence[str], cache: str) -> float:
    began = time.monotonic()
    with subprocess.Popen(
        [*_TRAIN, *train], stdout=subprocess.PIPE, text=True, env=_environment(cache)
    ) as process:
        for line in process.stdout:
            if line.startswith("eval"):
                seconds = time.monotonic() - began
                process.kill()
                return seconds
    raise RunFault(f"train {' '.join(train)} ended without an evaluation.")


def _split(train: Sequence[str], cache: str) -> dict[str, float]:
    done = subprocess.run(
        [*_PROBE, str(time.monotonic()), *train],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env=_environment(cache),
    )
    if done.returncode:
        raise RunFault(f"train {' '.join(train)} failed.")
    return json.loads(done.stdout.splitlines()[-1])


def _environment(cache: str) -> dict[str, str]:
    return os.environ | {CACHE: cache}
