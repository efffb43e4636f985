"""Environment steps that DQN needs for CartPole, with demonstrations and without."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from agents.tools.faults import RunFault
from scripts.trainers.training import DQN, train

SOLVED, EVERY = 475.0, 2_048
_DATASET = "cartpole/expert-v0"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))
    parser.add_argument("--steps", type=int, default=60_000)


def run(options: argparse.Namespace) -> None:
    """Record a PPO policy, train on each seed, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        # Where Minari looks for data sets, in this process and in those it starts.
        os.environ["MINARI_DATASETS_PATH"] = folder
        _record(folder)
        print("| CartPole by DQN | median | first evaluation at 475, each seed |")
        print("| --- | --- | --- |")
        for name, settings in (
            ("without demonstrations", ()),
            ("with them", (f"--set=demonstrations={_DATASET}",)),
        ):
            first = [_first_solved(seed, options, settings) for seed in options.seeds]
            each = ", ".join(f"{step:,}" for step in first)
            median = statistics.median(first)
            print(f"| {name} | **{median:,.0f}** | {each} |", flush=True)


def _first_solved(
    seed: int, options: argparse.Namespace, settings: tuple[str, ...]
) -> int:
    """Return the step of the first evaluation that counts as solved, or of the last."""
    training = train(
        DQN,
        "--backend=tensorflow",
        f"--seed={seed}",
        f"--set=steps={options.steps}",
        f"--set=eval_every={EVERY}",
        f"--set=checkpoint_steps={EVERY}",
        *settings,
    )
    evaluations = training.evaluations()
    solved = [step for step, score in evaluations if score >= SOLVED]
    return solved[0] if solved else evaluations[-1][0]


def _record(folder: str) -> None:
    for arguments in (
        (
            "train",
            "--config=cartpole",
            "--backend=tensorflow",
            f"--logdir={folder}/run",
        ),
        ("record", f"--logdir={folder}/run", f"--dataset={_DATASET}"),
    ):
        command = [sys.executable, "-m", f"agents.scripts.{arguments[0]}"]
        done = subprocess.run(
            [*command, *arguments[1:]], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RunFault(f"{arguments[0]} failed:\n{done.stderr.rstrip()}")
