"""Trains presets on several seeds, and reports what came of it.

    python -m scripts.returns run --tasks hopper walker --seeds 0 1 2 3 4
    python -m scripts.returns report
    python -m scripts.returns run --file=docs/study.jsonl --seeds 100 --set=discount=0.9
    python -m scripts.returns study

`run` appends a line to docs/results.jsonl for each run that has ended, and leaves out
those that are there already, so that measuring goes on where it was stopped; as many
take place at once as there are cores. `report` writes docs/results.md from the lines,
`study` likewise docs/study.md, which compares settings.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import queue
import sys
from collections.abc import Sequence

from agents.parts.settings import SettingError
from agents.scripts import command_line
from agents.tools import constructors
from agents.tools.faults import RunFault
from scripts.returns import records, report, runs, study, zoo
from scripts.returns.records import Run
from scripts.returns.tasks import STEPS, TASKS

RESULTS = pathlib.Path("docs/results.jsonl")
STUDY = pathlib.Path("docs/study.jsonl")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the first argument names."""
    parser = command_line.Parser("python -m scripts.returns", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    add_run_options(commands.add_parser("run", help="train, and append the results"))
    reporting = commands.add_parser("report", help="write tables and curves")
    reporting.add_argument("--file", type=pathlib.Path, default=RESULTS)
    reporting.set_defaults(command=lambda options: report.write(options.file))
    studying = commands.add_parser("study", help="write a table of changed settings")
    studying.add_argument("--file", type=pathlib.Path, default=STUDY)
    studying.set_defaults(command=lambda options: study.write(options.file))
    with command_line.exit_codes():
        options = parser.parse_args(arguments)
        options.command(options)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    positive = command_line.positive
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", nargs="+", type=int, default=range(5))
    parser.add_argument("--steps", type=positive, default=STEPS)
    command_line.add_set(parser, "another value of a setting of the presets")
    parser.add_argument(
        "--stable-baselines3",
        action="store_true",
        help="train it instead, by the settings of the RL Zoo",
    )
    parser.add_argument("--file", type=pathlib.Path, default=RESULTS)
    parser.add_argument(
        "--jobs",
        type=positive,
        default=len(constructors.available_cores()),
        help="runs at once, each on a core of its own",
    )
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Train whatever has no line yet; seeds take turns, so that no task comes last."""
    settings = runs.parse(options.set)
    trainer = zoo.TRAINER if options.stable_baselines3 else records.OURS
    compared = [task for task, about in TASKS.items() if about.zoo]
    if trainer == zoo.TRAINER and (settings or not set(options.tasks) <= set(compared)):
        raise SettingError(
            "--stable-baselines3 has settings of its own, for the tasks "
            f"{', '.join(compared)}: leave out --set, and choose by --tasks."
        )
    done = [record.run for record in records.read(options.file)]
    pending: queue.SimpleQueue[Run] = queue.SimpleQueue()
    for seed, task in itertools.product(options.seeds, options.tasks):
        if trainer == zoo.TRAINER:
            planned = zoo.plan(task, seed, options.steps)
        else:
            planned = runs.plan(task, seed, options.steps, settings)
        if planned not in done:
            pending.put(planned)
    cores = itertools.cycle(sorted(constructors.available_cores()))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [
            pool.submit(_work_off, pending, next(cores), options.file)
            for _ in range(options.jobs)
        ]
        failed = sum(job.result() for job in jobs)
    if failed:
        raise RunFault(f"{failed} runs failed; the same command runs them again.")


def _work_off(pending: "queue.SimpleQueue[Run]", core: int, file: pathlib.Path) -> int:
    """Train until nothing is pending; return how many runs failed."""
    # Of this thread, and of the processes that it starts.
    os.sched_setaffinity(0, {core})
    failed = 0
    while True:
        try:
            planned = pending.get_nowait()
            made = (zoo if planned.trainer == zoo.TRAINER else runs).train(planned)
        except queue.Empty:
            return failed
        except RunFault as fault:
            print(fault, file=sys.stderr)
            failed += 1
            continue
        records.append(file, made)
        outcome = f"{made.score:,.1f} in {made.seconds:,.0f} s"
        name = f"{planned.trainer} {planned.task} seed {planned.seed}"
        print(f"{name}: {outcome}", file=sys.stderr)


if __name__ == "__main__":
    main()
