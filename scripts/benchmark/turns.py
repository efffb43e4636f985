"""Turns: each measures one peer, in a process of its own."""

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from agents.parts.settings import SettingError
from agents.tools.faults import RunFault
from scripts.benchmark.work import Work

COMMAND = "turn"


def take(name: str, work: Work) -> float:
    """Return the environment steps per second of a peer, by one turn.

    Raises:
        RunFault: It failed; with what it printed.
    """
    command = [sys.executable, "-m", "scripts.benchmark", COMMAND, name, work.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFault(f"{name} failed:\n{done.stderr.rstrip()}")
    return float(done.stdout.splitlines()[-1])


def take_all(
    work_of: dict[str, tuple[str, Work]], turns: int
) -> dict[str, list[float]]:
    """Let all take turns (A B A B ...), and return the rates of each.

    Args:
        work_of: peer and work by the name under which its rates are returned.
        turns: of each.
    """
    rates: dict[str, list[float]] = {name: [] for name in work_of}
    for turn in range(turns):
        for name, (peer, work) in work_of.items():
            rate = take(peer, work)
            rates[name].append(rate)
            print(f"turn {turn + 1}/{turns}  {name}: {rate:,.0f}", file=sys.stderr)
    return rates


def rate_of(iterate: Callable[[], int], work: Work, warm_ups: int = 1) -> float:
    """Return steps per second over as many whole iterations as a turn asks for.

    Args:
        iterate: does one iteration to its end, and returns its environment steps.
        work: says how long to go on.
        warm_ups: iterations before, which pay for start and compilation.
    """
    for _ in range(warm_ups):
        iterate()
    clock = Clock(work)
    done = 0
    while not clock.is_over(done):
        done += iterate()
    return clock.rate(done)


class Clock:
    """Runs from its making until a turn is over."""

    def __init__(self, work: Work):
        """Start."""
        self._work = work
        self._began = self._now = time.perf_counter()

    def is_over(self, done: int) -> bool:
        """Note the time after `done` steps; return whether the turn may end."""
        self._now = time.perf_counter()
        passed = self._now - self._began
        return 0 < done >= self._work.steps and passed >= self._work.seconds

    def rate(self, done: int) -> float:
        """Return the steps per second until the time noted last."""
        return done / (self._now - self._began)


def check_packages(needs: Iterable[tuple[str, str]]) -> None:
    """Check that packages are there.

    Args:
        needs: module, and the extra that installs it.

    Raises:
        SettingError: Names what is missing, and the extras.
    """
    if absent := missing(needs):
        modules = ", ".join(sorted({module for module, _ in absent}))
        extras = ",".join(sorted({extra for _, extra in absent}))
        raise SettingError(
            f"Not installed: {modules}. Install them by pip install -e '.[{extras}]', "
            "or choose others by --peers."
        )


def missing(needs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of some modules that are not installed, with their extras."""
    return [need for need in needs if importlib.util.find_spec(need[0]) is None]
