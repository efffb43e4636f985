"""Measures the trainers of the example package, and what they are built on.

    python -m scripts.trainers scores             # A2C and DQN, five seeds each
    python -m scripts.trainers demonstrations     # DQN with and without them
    python -m scripts.trainers rates              # DQN and Stable-Baselines3, in turns
    python -m scripts.trainers replay             # appending, by capacity

Each prints a table, which docs/trainers.md holds.
"""

import argparse
from collections.abc import Sequence

from agents.scripts import command_line
from scripts.trainers import demonstrations, rates, replay, scores


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the first argument names."""
    command_line.set_tensorflow_defaults()
    parser = command_line.Parser("python -m scripts.trainers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    for module, text in (
        (scores, "scores of A2C and DQN"),
        (demonstrations, "steps that DQN needs, with demonstrations and without"),
        (rates, "steps per second of DQN, beside Stable-Baselines3"),
        (replay, "microseconds to append to a memory"),
    ):
        name = module.__name__.rpartition(".")[2]
        command = commands.add_parser(name, help=text)
        module.add_options(command)
        command.set_defaults(command=module.run)
    options = parser.parse_args(arguments)
    with command_line.exit_codes():
        options.command(options)


if __name__ == "__main__":
    main()
