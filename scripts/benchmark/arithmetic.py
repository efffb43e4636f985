"""What is computed from rates in steps per second."""

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Summary(NamedTuple):
    """The rates of one peer over its turns, in environment steps per second."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, rates: Sequence[float]) -> "Summary":
        """Summarize at least one rate."""
        return cls(statistics.median(rates), min(rates), max(rates))

    @property
    def spread(self) -> float:
        """From the least to the most, as a share of the median."""
        return (self.most - self.least) / self.median


class Share(NamedTuple):
    """How near a peer comes to what its parts would allow, in steps per second."""

    measured: float
    bound: float

    @property
    def share(self) -> float:
        """1 where simulating and learning are all that takes time."""
        return self.measured / self.bound


def bound(environment_rate: float, update_rate: float) -> float:
    """Return the rate at which nothing but simulating and learning takes time."""
    return 1 / (1 / environment_rate + 1 / update_rate)


def shares(
    medians: Mapping[str, float], bare: Mapping[str, str], update: str
) -> dict[str, Share]:
    """Return the share of the bound of each peer whose parts were measured too.

    Args:
        medians: rates by peer.
        bare: for a peer, the peer that has the same environments alone.
        update: the peer that learns alone.
    """
    return {
        name: Share(medians[name], bound(medians[alone], medians[update]))
        for name, alone in bare.items()
        if {name, alone, update} <= medians.keys()
    }


def reference(medians: Mapping[str, float], prefix: str) -> str:
    """Return the fastest peer with a prefix; if there is none, the slowest peer."""
    candidates = [name for name in medians if name.startswith(prefix)]
    if candidates:
        return max(candidates, key=medians.__getitem__)
    return min(medians, key=medians.__getitem__)
