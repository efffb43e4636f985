"""Runs one of the measurements; without its name, `throughput`."""

import sys
from collections.abc import Sequence

from agents.scripts import command_line
from scripts.benchmark import (
    memory,
    peers,
    revisions,
    scaling,
    startup,
    startup_probe,
    throughput,
    turns,
)

COMMANDS = {
    "throughput": throughput.main,
    "scaling": scaling.main,
    "memory": memory.main,
    "startup": startup.main,
    "revisions": revisions.main,
    # What the others run in processes of their own.
    turns.COMMAND: peers.main,
    startup_probe.COMMAND: startup_probe.main,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurement that the first argument names."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    name = "throughput"
    if arguments and arguments[0] in COMMANDS:
        name = arguments.pop(0)
    with command_line.exit_codes():
        COMMANDS[name](arguments)


if __name__ == "__main__":
    main()
