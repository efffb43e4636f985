"""Environment steps per second of all peers, side by side.

Every peer does the same work: environments, horizon, epochs, minibatches and networks
are alike. They take turns (A B A B ...), each in a process of its own; a turn counts
whole iterations after those that pay for start and compilation. `bare:` peers step
environments without learning, `update` learns without environments; together they
bound what training can reach.
"""

import argparse
import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence

import rich.table

from agents.parts.settings import SettingError
from agents.scripts import command_line
from scripts.benchmark import peers, report, turns
from scripts.benchmark.arithmetic import Summary, reference, shares
from scripts.benchmark.work import Work, add_options


def main(arguments: Sequence[str]) -> None:
    """Measure, and print tables."""
    options = parse(arguments)
    work = Work.of(options)
    names = peers.choose(options.peers, work)
    if options.against is not None and options.against not in names:
        raise SettingError(f"--against={options.against} takes no part in this run.")
    print(f"In turns: {', '.join(names)}.", file=sys.stderr)
    rates = turns.take_all({name: (name, work) for name in names}, options.turns)
    for table in tables(rates, options.against, work.env):
        report.show(table)
    if options.json:
        report.write(options.json, {"work": work, "rates": rates, **results(rates)})
    if options.bars:
        trained = {name: values for name, values in rates.items() if _trains(name)}
        report.draw_bars(options.bars, trained, f"{work.env}, steps per second")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser("benchmark throughput", description=__doc__)
    add_options(parser)
    positive = command_line.positive
    parser.add_argument(
        "--num_envs", type=positive, default=Work.num_envs, help="environments"
    )
    parser.add_argument(
        "--horizon", type=positive, default=Work.horizon, help="steps between updates"
    )
    parser.add_argument(
        "--steps", type=positive, default=0, help="least environment steps in a turn"
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=peers.PEERS,
        metavar="NAME",
        help=f"of {', '.join(peers.PEERS)}; default: all that have the environment",
    )
    parser.add_argument(
        "--against",
        choices=peers.PEERS,
        metavar="NAME",
        help="what ratios refer to; default: the fastest Stable-Baselines3",
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for all results")
    parser.add_argument("--bars", type=pathlib.Path, help="file for a chart, .png")
    return parser.parse_args(arguments)


def tables(
    rates: Mapping[str, Sequence[float]], against: str | None, title: str
) -> list[rich.table.Table]:
    """Return a table of training, one of its parts, and one of their bounds."""
    training = {name: values for name, values in rates.items() if _trains(name)}
    parts = {name: values for name, values in rates.items() if not _trains(name)}
    found = []
    if training:
        title = f"{title}: environment steps per second, training included"
        found.append(_training_table(rates, training, against, title))
    if parts:
        table = report.table("Environments alone, and the update alone", "peer")
        report.add_columns(table, *report.SUMMARY)
        for name, values in parts.items():
            table.add_row(name, *report.cells(Summary.of(values)))
        found.append(table)
    bounds = shares(_medians(rates), peers.BARE, peers.UPDATE)
    if bounds:
        table = report.table("Bound by both, 1 / (1 / bare + 1 / update)", "peer")
        report.add_columns(table, "median", "bound", "share of the bound")
        for name, share in bounds.items():
            numbers = (f"{share.measured:,.0f}", f"{share.bound:,.0f}")
            table.add_row(name, *numbers, f"{share.share:.0%}")
        found.append(table)
    return found


def results(rates: Mapping[str, Sequence[float]]) -> dict[str, object]:
    """Return what follows from rates: medians by peer, bounds, and shares of them."""
    bounds = shares(_medians(rates), peers.BARE, peers.UPDATE)
    return {
        "medians": _medians(rates),
        "bounds": {name: share.bound for name, share in bounds.items()},
        "shares": {name: share.share for name, share in bounds.items()},
    }


def _training_table(
    rates: Mapping[str, Sequence[float]],
    training: Mapping[str, Sequence[float]],
    against: str | None,
    title: str,
) -> rich.table.Table:
    reason = ""
    if against is None:
        against = reference(_medians(training), peers.STABLE_BASELINES)
        kind = "slowest peer"
        if against.startswith(peers.STABLE_BASELINES):
            kind = "fastest Stable-Baselines3"
        reason = f", the {kind} of this run"
    table = report.table(title, "peer", f"ratios: against {against}{reason}")
    report.add_columns(table, *report.SUMMARY, "ratio")
    base = statistics.median(rates[against])
    for name, values in training.items():
        summary = Summary.of(values)
        table.add_row(name, *report.cells(summary), f"{summary.median / base:.1f}x")
    return table


def _trains(name: str) -> bool:
    return peers.PEERS[name].trains


def _medians(rates: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: statistics.median(values) for name, values in rates.items()}
