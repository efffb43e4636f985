"""The trainers by name: those of this package, and those that others bring.

A package brings trainers by an entry point of the group `agents.trainer_type`: a
function without arguments that returns two dictionaries, of algorithms and of their
settings dataclasses, both by the names of trainers. An algorithm is a class, or the
path `module:class` of one, so that TensorFlow need not be imported to read a config.
"""

import dataclasses
import functools
import importlib
from collections.abc import Mapping
from typing import Any

from agents.parts import plugins
from agents.parts.plugins import Plugin
from agents.parts.settings import SettingError, nearest

GROUP = "agents.trainer_type"


@dataclasses.dataclass(frozen=True)
class Trainer:
    """An algorithm as it is registered.

    Attributes:
        algorithm_or_path: its class, or `module:class`.
        settings: its settings dataclass.
        package: the distribution that brings it.
    """

    algorithm_or_path: Any
    settings: type
    package: str

    def algorithm(self) -> Any:
        """Return the algorithm's class.

        Raises:
            SettingError: Its path leads nowhere, or to no algorithm.
        """
        # pylint: disable-next=import-outside-toplevel
        from agents.algorithms.algorithm import Algorithm

        found = self.algorithm_or_path
        if isinstance(found, str):
            try:
                module, _, name = found.partition(":")
                found = getattr(importlib.import_module(module), name)
            except Exception as error:
                raise SettingError(
                    f"The package {self.package} has no algorithm {found}: "
                    f"{plugins.describe(error)}."
                ) from error
        if not (isinstance(found, type) and issubclass(found, Algorithm)):
            raise SettingError(
                f"The package {self.package} registers {found!r} as an algorithm, "
                "which must be a subclass of agents.algorithms.algorithm.Algorithm."
            )
        return found


def find(name: str) -> Trainer:
    """Return the trainer of a name.

    Raises:
        SettingError: There is none, names the nearest; or its package failed to load;
            or several packages bring it.
    """
    found = [plugin for plugin in _plugins() if name in (plugin.content or ())]
    if len(found) > 1:
        packages = " and ".join(sorted(plugin.package for plugin in found))
        raise SettingError(
            f"The trainer {name} is brought by {packages}: uninstall one of them, or "
            "rename its trainer."
        )
    if found:
        return found[0].content[name]
    # An entry point is named like a trainer of it, as a rule.
    named_so = [plugin for plugin in _plugins() if plugin.name == name]
    if named_so and named_so[0].fault:
        raise SettingError(f"There is no trainer {name}. {named_so[0].fault}")
    sentences = [f"The trainer {name!r} is unknown{nearest(name, known())}", *faults()]
    raise SettingError(" ".join(sentences))


def known() -> dict[str, list[str]]:
    """Return the packages that bring each trainer, by its name.

    Raises:
        SettingError: Not even those of this package are there.
    """
    names: dict[str, list[str]] = {}
    for plugin in _plugins():
        for name in plugin.content or ():
            names.setdefault(name, []).append(plugin.package)
    if "ppo" not in names:
        raise SettingError(
            "The package batch-ppo is not installed, or was by an older version: "
            "pip install -e . in its folder."
        )
    return names


def faults() -> list[str]:
    """Return a sentence for each plugin that failed to load."""
    return [plugin.fault for plugin in _plugins() if plugin.fault]


@functools.cache
def _plugins() -> tuple[Plugin, ...]:
    return tuple(plugins.load(GROUP, _trainers))


def _trainers(function: Any, package: str) -> Mapping[str, Trainer]:
    """Return what a plugin's function brings.

    Raises:
        TypeError: It returns something else.
    """
    returned = function()
    if not (
        isinstance(returned, tuple | list)
        and len(returned) == 2
        and all(isinstance(part, Mapping) for part in returned)
    ):
        raise TypeError(
            "it must return two dictionaries, of algorithms and of settings "
            f"dataclasses, but returned {returned!r}"
        )
    algorithms, settings = returned
    if set(algorithms) != set(settings):
        raise TypeError(
            "its two dictionaries must have the same names, but have "
            f"{sorted(algorithms)} and {sorted(settings)}"
        )
    for name in algorithms:
        _check_types(name, algorithms[name], settings[name])
    return {
        name: Trainer(algorithms[name], settings[name], package) for name in algorithms
    }


def _check_types(name: Any, algorithm: Any, settings: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"names of trainers must be texts, but one is {name!r}")
    if not isinstance(algorithm, str | type):
        raise TypeError(
            f"the algorithm of {name} must be a class or its path module:class, but is "
            f"{algorithm!r}"
        )
    if not (isinstance(settings, type) and dataclasses.is_dataclass(settings)):
        raise TypeError(f"the settings of {name} must be a dataclass, not {settings!r}")
