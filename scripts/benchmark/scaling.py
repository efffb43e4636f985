"""How the rate of training grows with the number of environments.

The work for each step stays the same: every iteration has as many transitions
(`--transitions`), so the horizon is their number divided by the environments, and
minibatch and epochs are fixed. So each update takes the same number of gradient steps,
of the same size, and what differs is only how many environments are stepped at once.
"""

import argparse
import pathlib
from collections.abc import Mapping, Sequence

import rich.table

from agents.parts.settings import SettingError
from agents.scripts import command_line
from scripts.benchmark import peers, report, turns
from scripts.benchmark.arithmetic import Summary
from scripts.benchmark.work import Work, add_options

_MINIBATCH = 512


def main(arguments: Sequence[str]) -> None:
    """Measure, and print a table."""
    options = parse(arguments)
    works = works_of(options)
    (peer,) = peers.choose([f"agents:{options.backend}"], next(iter(works.values())))
    named = {str(num_envs): (peer, work) for num_envs, work in works.items()}
    rates = turns.take_all(named, options.turns)
    report.show(table(works, rates, f"{options.env}, {options.backend}"))
    if options.json:
        result = {"backend": options.backend, "works": works, "rates": rates}
        report.write(options.json, result)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser("benchmark scaling", description=__doc__)
    add_options(parser, _MINIBATCH)
    parser.add_argument("--backend", choices=peers.OURS, default=peers.OURS[0])
    parser.add_argument(
        "--num_envs",
        type=command_line.positive,
        nargs="+",
        default=[4**power for power in range(7)],
        help="numbers of environments",
    )
    parser.add_argument(
        "--transitions",
        type=command_line.positive,
        default=32_768,
        help="environment steps in an iteration",
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for all results")
    return parser.parse_args(arguments)


def works_of(options: argparse.Namespace) -> dict[int, Work]:
    """Return the work for each number of environments.

    Raises:
        SettingError: The transitions can't be divided among so many environments.
    """
    works = {}
    for num_envs in options.num_envs:
        horizon, rest = divmod(options.transitions, num_envs)
        if rest:
            raise SettingError(
                f"--transitions={options.transitions} is no multiple of {num_envs} "
                "environments."
            )
        base = vars(options) | {"num_envs": num_envs, "horizon": horizon}
        works[num_envs] = Work.of(argparse.Namespace(**base))
    return works


def table(
    works: Mapping[int, Work], rates: Mapping[str, Sequence[float]], title: str
) -> rich.table.Table:
    """Return a row for each number of environments, with ratios against the first."""
    made = report.table(f"{title}: environment steps per second", "environments")
    report.add_columns(made, "horizon", *report.SUMMARY, "ratio")
    summaries = {name: Summary.of(values) for name, values in rates.items()}
    first = next(iter(summaries.values()))
    for num_envs, work in works.items():
        summary = summaries[str(num_envs)]
        numbers = [f"{work.horizon:,}", *report.cells(summary)]
        made.add_row(f"{num_envs:,}", *numbers, f"{summary.median / first.median:.1f}x")
    return made
