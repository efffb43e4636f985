"""The algorithms by name, free of TensorFlow until one is asked for."""

import importlib
from typing import Any, NamedTuple

from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.settings import SettingError, nearest


class Trainer(NamedTuple):
    """An algorithm as it is registered.

    Attributes:
        path: `module:class` of the algorithm.
        settings: its settings dataclass.
    """

    path: str
    settings: type

    def algorithm(self) -> Any:
        """Import the algorithm's class."""
        module, _, name = self.path.partition(":")
        return getattr(importlib.import_module(module), name)


TRAINERS = {"ppo": Trainer("agents.algorithms.ppo.ppo:PPO", PPOSettings)}


def find(name: str) -> Trainer:
    """Return the trainer of a name.

    Raises:
        SettingError: There is none; names the nearest.
    """
    if not isinstance(name, str) or name not in TRAINERS:
        raise SettingError(
            f"The algorithm {name!r} is unknown{nearest(name, TRAINERS)}"
        )
    return TRAINERS[name]
