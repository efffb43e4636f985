"""Configs as YAML: written beside each run, and read from there to resume it."""

import contextlib
import dataclasses
import importlib
import io
import operator
import pathlib
from collections.abc import Callable, Iterator, Mapping
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
    files.replace_text(path, text_of(config))


def text_of(config: Config) -> str:
    """Return a config with all its settings as YAML."""
    outer = dict(field_values(config))
    inner = field_values(outer.pop("hyperparameters"))
    document = {"trainer_type": outer.pop("algorithm")}
    document |= {name: _plain(value) for name, value in outer.items()}
    document["hyperparameters"] = {name: _plain(v) for name, v in inner.items()}
    stream = io.StringIO()
    _yaml().dump(document, stream)
    return stream.getvalue()


def read(path: pathlib.Path, given: Mapping[str, Any]) -> Config:
    """Read a config; nothing that the file names is imported.

    Args:
        path: of the file; what it leaves out is as in `Config` and in the settings of
            its trainer.
        given: settings from the command line: what they say of code is trusted.

    Raises:
        SettingError: The file is missing or broken, has unknown settings, or names code
            that is not among `given`. It names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = _yaml().load(text)
    except (OSError, *_YAML_ERRORS) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}," if mark else ""
        reason = (getattr(error, "problem", None) or str(error)).strip().splitlines()[0]
        raise SettingError(
            f"{path}{where} is no YAML that can be read: {reason}."
        ) from error
    try:
        inner = dict(document.pop("hyperparameters", None) or {})
        outer = {"algorithm": document.pop("trainer_type", "ppo"), **document}
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise SettingError(f"{path} is no config of a run: {error!r}.") from error
    lines = _Lines(path, text)
    with lines.named({"algorithm": "trainer_type"}):
        trainer = trainers.find(outer["algorithm"])
    with lines.named({}):
        _check_code(outer, given, path)
        known = [name for name in _names(Config) if name != "hyperparameters"]
        check_names(outer, known, "The setting")
    with lines.named({}, "hyperparameters", outer["algorithm"]):
        check_names(inner, _names(trainer.settings), "The hyperparameter")
        settings = trainer.settings(**inner)
    with lines.named({}):
        return Config(**outer, hyperparameters=settings)


def _check_code(
    outer: dict[str, Any], given: Mapping[str, Any], path: pathlib.Path
) -> None:
    """Put code that the command line names in the place of its name.

    Raises:
        SettingError: The file names other code.
    """
    for name in _CODE:
        value = outer.get(name)
        if name in given and _plain(given[name]) == value:
            outer[name] = given[name]
        elif _names_code(value):
            raise SettingError(
                f"{path} says {name}: {value}, but nothing is imported on the word "
                f"of a file: add --set={name}={value} if you trust it.",
                name,
            )


class _Lines:
    """Says where in a file a setting stands."""

    def __init__(self, path: pathlib.Path, text: str):
        self._path = path
        self._root = _yaml().compose(text)

    @contextlib.contextmanager
    def named(
        self, names: Mapping[str, str], section: str = "", trainer: str = ""
    ) -> Iterator[None]:
        """Add file, line and trainer to errors about settings.

        Args:
            names: those that are called otherwise in the file.
            section: key of the mapping that they stand in; empty: the outermost.
            trainer: whose settings they are; empty: of no trainer.
        """
        try:
            yield
        except SettingError as error:
            key = error.key or next(iter(names), None)
            line = self._line(names.get(key, key), section)
            where = f"{self._path}, line {line}" if line else str(self._path)
            of = f" (hyperparameters of the trainer {trainer})" if trainer else ""
            raise SettingError(f"{where}: {error}{of}") from error

    def _line(self, key: str | None, section: str) -> int | None:
        node = self._root
        for wanted in (section, key) if section else (key,):
            pairs = node.value if isinstance(node, ruamel.yaml.MappingNode) else ()
            found = [pair for pair in pairs if pair[0].value == wanted]
            if not found:
                return None
            name_node, node = found[0]
        return name_node.start_mark.line + 1


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
