"""What `--config` names: a preset, a function of a package, or a file."""

import importlib
import inspect
import pathlib
import typing
from collections.abc import Callable, Mapping
from typing import Any

from agents.algorithms import trainers
from agents.parts import plugins
from agents.parts.settings import SettingError, nearest
from agents.scripts import config_file, configs
from agents.scripts.config import Config

_ENDINGS = (".yaml", ".yml")


def names() -> dict[str, str]:
    """Return what each preset is for, by its name."""
    return {name: inspect.getdoc(function) or "" for name, function in _known().items()}


def name_of(text: str) -> str:
    """Return the name that a run of a config has in its folder's name."""
    if text.endswith(_ENDINGS):
        return pathlib.Path(text).stem
    return text.rpartition(":")[2]


def find(text: str | None, given: Mapping[str, Any]) -> Config:
    """Return a config.

    Args:
        text: a name in configs.py, `package.module:function`, or the path of a YAML
            file.
        given: settings in place of its own.

    Raises:
        SettingError: There is none, or a setting is wrong.
    """
    if text is None:
        raise SettingError(f"--config is missing{nearest('', _known())}")
    if text.endswith(_ENDINGS):
        config = config_file.read(pathlib.Path(text), given)
    elif ":" in text:
        config = _call(text)
    elif text in _known():
        config = _known()[text]()
    else:
        otherwise = (
            f"known are {', '.join(sorted(_known()))}; or give a file .yaml, or "
        )
        raise SettingError(
            f"The config {text!r} is unknown"
            f"{nearest(text, _known(), otherwise + 'package.module:function')}"
        )
    return config.replace(**given)


def _known() -> dict[str, Callable[[], Config]]:
    return {
        name: function
        for name, function in inspect.getmembers(configs, inspect.isfunction)
        if function.__module__ == configs.__name__ and not name.startswith("_")
    }


def _call(text: str) -> Config:
    """Return what `package.module:function` makes."""
    module, _, name = text.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)()
    except SettingError:
        raise
    except (Exception, SystemExit) as error:
        raise SettingError(
            f"--config={text} can't be called: {plugins.describe(error)}."
        ) from error
    if not isinstance(made, Config):
        raise SettingError(f"--config={text} returned {made!r}, which is no Config.")
    return made


def listing() -> str:
    """Return configs, trainers, backends and writers, each with what brings it."""
    backends = typing.get_args(Config.__annotations__["backend"])
    lines = ["Configs (--config=NAME):"]
    lines += [f"  {name:26}{text}" for name, text in names().items()]
    lines += ["", "Trainers (--set=algorithm=NAME, or trainer_type in a file):"]
    for name, packages in sorted(trainers.known().items()):
        lines.append(f"  {name:26}{' and '.join(packages)}")
    lines += ["", "Backends (--backend=NAME):"]
    lines += [f"  {name}" for name in backends]
    lines += ["", "Stats writers:"]
    for plugin in plugins.points("agents.stats_writer"):
        lines.append(f"  {plugin.name:26}{plugin.package}")
    faulty = trainers.faults()
    if faulty:
        lines += ["", "Plugins that are unusable:", *(f"  {text}" for text in faulty)]
    return "\n".join(lines)
