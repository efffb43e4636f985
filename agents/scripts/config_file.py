"""Configs as YAML: written beside each run, and read from there to resume it."""

import dataclasses
import importlib
import io
import operator
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import ruamel.yaml

from agents.algorithms import trainers
from agents.environments import jax_env
from agents.parts.settings import SettingError, check_names, field_values
from agents.scripts.config import Config
from agents.tools import constructors, files

_YAML_ERRORS = (
    ruamel.yaml.YAMLError,
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
)
# Settings that may name code; from a run directory only registered names are taken.
_CODE = ("env", "network")


def parse_value(text: str) -> Any:
    """Return the value that a text stands for in YAML, for `--set KEY=VALUE`.

    Raises:
        SettingError: It is no YAML.
    """
    try:
        return _yaml().load(text)
    except _YAML_ERRORS as error:
        shown = text if len(text) < 80 else f"{text[:80]} ..."
        raise SettingError(f"The value {shown!r} can't be read as YAML.") from error


@dataclasses.dataclass(frozen=True)
class Code:
    """A function with the path by which it was found.

    Attributes:
        path: `module:name`.
        function: what it names.
    """

    path: str
    function: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.function(*args, **kwargs)


def resolve(name: str, value: Any) -> Any:
    """Import what `module:function` names for a setting that may name code.

    The ids of Gymnasium, gymnax and Brax have that form too, and stay as they are.

    Raises:
        SettingError: It can't be imported.
    """
    if name not in _CODE or not _names_code(value):
        return value
    module_name, _, path = value.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise SettingError(f"{name}={value} does not name a module before the colon.")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise SettingError(
            f"The module of {name}={value} can't be imported: "
            f"{type(error).__name__}: {error}."
        ) from error
    try:
        return Code(value, operator.attrgetter(path)(module))
    except AttributeError as error:
        if name == "env" and _is_registered(path):
            return value
        raise SettingError(
            f"The module {module_name} has no {path!r} for {name}={value}."
        ) from error


def code_settings(config: Config) -> list[str]:
    """Return `name=value` for each setting that names code by its module."""
    values = {name: _plain(getattr(config, name)) for name in _CODE}
    return [f"{name}={value}" for name, value in values.items() if _names_code(value)]


def write(config: Config, path: pathlib.Path) -> None:
    """Write a config with all its settings."""
    outer = dict(field_values(config))
    inner = field_values(outer.pop("hyperparameters"))
    document = {"trainer_type": outer.pop("algorithm")}
    document |= {name: _plain(value) for name, value in outer.items()}
    document["hyperparameters"] = {name: _plain(v) for name, v in inner.items()}
    stream = io.StringIO()
    _yaml().dump(document, stream)
    files.replace_text(path, stream.getvalue())


def read(path: pathlib.Path, given: Mapping[str, Any]) -> Config:
    """Read a config; nothing that the file names is imported.

    Args:
        path: of the file.
        given: settings from the command line: what they say of code is trusted.

    Raises:
        SettingError: The file is missing or broken, has unknown settings, or names code
            that is not among `given`.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = _yaml().load(text)
    except (OSError, *_YAML_ERRORS) as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingError(f"{path} is no YAML that can be read: {reason}.") from error
    try:
        inner = dict(document.pop("hyperparameters"))
        outer = {"algorithm": document.pop("trainer_type"), **document}
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise SettingError(f"{path} is no config of a run: {error!r}.") from error
    for name in _CODE:
        value = outer.get(name)
        if name in given and _plain(given[name]) == value:
            outer[name] = given[name]
        elif _names_code(value):
            raise SettingError(
                f"{path} says {name}: {value}, but nothing is imported on the word "
                f"of a run directory: add --set={name}={value} if you trust it."
            )
    settings_class = trainers.find(outer["algorithm"]).settings
    known = [name for name in _names(Config) if name != "hyperparameters"]
    check_names(outer, known, f"{path}: the setting")
    check_names(inner, _names(settings_class), f"{path}: the hyperparameter")
    try:
        return Config(**outer, hyperparameters=settings_class(**inner))
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from error


def _names_code(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    module, colon, _ = value.partition(":")
    return bool(colon) and module not in jax_env.LIBRARIES


def _is_registered(env_id: str) -> bool:
    try:
        gymnasium.spec(env_id)
    except gymnasium.error.Error:
        return False
    return True


def _names(settings_class: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(settings_class)]


def _plain(value: Any) -> Any:
    if callable(value):
        return constructors.name_of(value)
    return list(value) if isinstance(value, tuple) else value


def _yaml() -> ruamel.yaml.YAML:
    yaml = ruamel.yaml.YAML(typ="safe")
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False
    return yaml
