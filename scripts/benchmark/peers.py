"""All that can take a turn, by name."""

import dataclasses
import functools
from collections.abc import Callable, Sequence

from agents.parts.settings import SettingError
from agents.scripts import environments
from scripts.benchmark import bare, others, ours, turns
from scripts.benchmark.work import Work

UPDATE = "update"
STABLE_BASELINES = "sb3:"


@dataclasses.dataclass(frozen=True)
class Peer:
    """Something whose rate can be measured.

    Attributes:
        measure: returns environment steps per second.
        backend: what runs its environments; empty: whatever can.
        needs: modules beyond those of the project, with the extra that installs them.
        trains: whether it both simulates and learns.
    """

    measure: Callable[[Work], float]
    backend: str = ""
    needs: tuple[tuple[str, str], ...] = ()
    trains: bool = True

    def can_run(self, work: Work) -> bool:
        """Return whether it has the environment."""
        if not self.backend:
            return True
        try:
            self.check(work)
            return True
        except SettingError:
            return False

    def check(self, work: Work) -> None:
        """Check that it has the environment.

        Raises:
            SettingError: It has not.
        """
        if not self.backend:
            return
        if not work.suits(self.backend):
            raise SettingError(f"{work.env} is an environment of the backend jax.")
        environments.check(work.config(self.backend))


def _training(backend: str, *needs: str, workers: int | None = None) -> Peer:
    measure = functools.partial(ours.measure_training, backend=backend, workers=workers)
    return Peer(measure, backend, tuple((module, module) for module in needs))


def _other(measure: Callable[..., float], module: str, **options: int) -> Peer:
    needs = (("stable_baselines3", "bench"), (module, "bench"))
    return Peer(functools.partial(measure, **options), "gymnasium", needs)


def _bare(measure: Callable[[Work], float], backend: str, *needs: str) -> Peer:
    pairs = tuple((module, module) for module in needs)
    return Peer(measure, backend, pairs, trains=False)


def _compiled(backend: str, *needs: str) -> Peer:
    measure = functools.partial(bare.measure_compiled, backend=backend)
    return _bare(measure, backend, *needs)


_sb3 = functools.partial(_other, others.measure_stable_baselines, "torch")
PEERS = {
    "agents:tensorflow": _training("tensorflow"),
    "agents:jax": _training("jax", "jax"),
    "agents:envpool": _training("envpool", "envpool"),
    "agents:workers": _training("gymnasium"),
    "agents:in-process": _training("gymnasium", workers=0),
    "sbx": _other(others.measure_sbx, "sbx"),
    "sb3:1-thread": _sb3(threads=1),
    "sb3:2-threads": _sb3(threads=2),
    "sb3:workers": _sb3(threads=1, workers=True),
    "bare:tensorflow": _compiled("tensorflow"),
    "bare:jax": _compiled("jax", "jax"),
    "bare:envpool": _bare(bare.measure_envpool, "envpool", "envpool"),
    "bare:workers": _bare(bare.measure_workers, "gymnasium"),
    "bare:in-process": _bare(bare.measure_gymnasium, "gymnasium"),
    UPDATE: Peer(ours.measure_update, trains=False),
}
OURS = tuple(name.partition(":")[2] for name in PEERS if name.startswith("agents:"))
BARE = {f"agents:{backend}": f"bare:{backend}" for backend in OURS}


def main(arguments: Sequence[str]) -> None:
    """Take one turn, of the peer and the work in the arguments; print its rate."""
    name, work = arguments
    print(PEERS[name].measure(Work.from_json(work)))


def choose(names: Sequence[str] | None, work: Work) -> list[str]:
    """Return the names of the peers of a run.

    Args:
        names: those asked for; None: all that are installed and have the environment.
        work: to be done.

    Raises:
        SettingError: A package is missing, or a peer asked for lacks the environment.
    """
    if names is None:
        return [
            name
            for name, peer in PEERS.items()
            if work.suits(peer.backend)
            and not turns.missing(peer.needs)
            and peer.can_run(work)
        ]
    asked = list(dict.fromkeys(names))
    turns.check_packages(need for name in asked for need in PEERS[name].needs)
    for name in asked:
        PEERS[name].check(work)
    return asked
