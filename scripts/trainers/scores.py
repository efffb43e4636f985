"""Scores of the example package's configs on the backend tensorflow."""

import argparse

import numpy as np

from scripts.trainers.training import CONFIGS, train


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))


def run(options: argparse.Namespace) -> None:
    """Train each config on each seed, and print a table of final evaluations."""
    print("| config | steps | mean | each seed | seconds, the longest |")
    print("| --- | --- | --- | --- | --- |")
    for path in sorted(CONFIGS.glob("*/*.yaml")):
        found = [
            train(str(path), "--backend=tensorflow", f"--seed={seed}")
            for seed in options.seeds
        ]
        scores = [training.evaluations()[-1][1] for training in found]
        each = ", ".join(f"{score:.1f}" for score in scores)
        steps = found[0].evaluations()[-1][0]
        seconds = max(training.seconds for training in found)
        cells = (path.name, f"{steps:,}", f"**{np.mean(scores):.1f}**", each)
        print(f"| {' | '.join(cells)} | {seconds:.0f} |", flush=True)
