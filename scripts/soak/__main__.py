"""Runs under all that can happen to them.

    python -m scripts.soak faults
    python -m scripts.soak kills --backend=tensorflow --trials=20
    python -m scripts.soak long episodes

`faults` lets each fault happen once, and writes docs/faults.md. `kills` kills runs at
random moments, resumes them, and compares their end with an undisturbed one, bit by
bit. `long` trains for long in one way: many episodes, checkpoints, failing workers,
large observations.
"""

import argparse
import pathlib
import random
import sys
import tempfile
from collections.abc import Sequence

from agents.scripts import command_line
from agents.tools.faults import RunFault
from scripts.soak import faults, kills, long
from scripts.soak.fault_table import FAULTS

_TABLE = pathlib.Path("docs/faults.md")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the first argument names."""
    parser = command_line.Parser("python -m scripts.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    each = commands.add_parser("faults", help="each fault once")
    each.add_argument("--only", default="", help="a part of the names of some")
    each.set_defaults(command=run_faults)
    killing = commands.add_parser("kills", help="kill and resume runs")
    killing.add_argument("--backend", choices=kills.SETTINGS, default="gymnasium")
    killing.add_argument("--trials", type=command_line.positive, default=20)
    killing.add_argument("--seed", type=int, default=0, help="of the moments")
    killing.set_defaults(command=run_kills)
    lasting = commands.add_parser("long", help="one long run")
    lasting.add_argument("name", choices=long.LONG)
    lasting.add_argument("--short", action="store_true", help="as the tests run it")
    lasting.set_defaults(command=run_long)
    with command_line.exit_codes():
        options = parser.parse_args(arguments)
        options.command(options)


def run_faults(options: argparse.Namespace) -> None:
    """Let each fault happen, and write the table."""
    rows, wrong = [], 0
    for fault in FAULTS:
        if options.only not in fault.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcome = faults.run(fault, pathlib.Path(folder))
        rows.append(faults.row(fault, outcome))
        print(rows[-1], flush=True)
        for complaint in faults.complaints(fault, outcome):
            print(f"    {complaint}", file=sys.stderr)
            wrong += 1
            print(outcome.output, file=sys.stderr)
    if not options.only:
        _TABLE.write_text(faults.page(rows), encoding="utf-8")
    if wrong:
        raise RunFault(f"{wrong} things were not as they should be.")


def run_kills(options: argparse.Namespace) -> None:
    """Kill and resume as many runs as are asked for."""
    chance = random.Random(options.seed)
    equal, resumed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        runs = kills.Kills(options.backend, pathlib.Path(folder, "runs"), {})
        print(f"{options.backend}: {runs.seconds:.1f} s of training", flush=True)
        for number in range(options.trials):
            trial = runs.trial(chance)
            equal += not trial.differences
            resumed += sum(step > 0 for step in trial.resumed_at)
            print(f"{number}: {trial}", flush=True)
    print(
        f"{equal} of {options.trials} ended bit-equal to the undisturbed run; "
        f"{resumed} times it had gone on from a checkpoint after the first."
    )
    if equal < options.trials:
        raise RunFault("Some differ.")


def run_long(options: argparse.Namespace) -> None:
    """Make one long run."""
    with tempfile.TemporaryDirectory() as folder:
        print(long.run(options.name, pathlib.Path(folder), options.short))


if __name__ == "__main__":
    main()
