"""Dataclass fields that document and check themselves."""

import contextlib
import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Of numbers without a bound of their own: what 32 bits hold.
_LARGEST = 2**31 - 1


class SettingError(ValueError):
    """A setting that is unknown, of the wrong type, or out of range.

    Attributes:
        key: its name, where the error is about one.
    """

    def __init__(self, message: str, key: str | None = None):
        """Say what is wrong, and with which setting."""
        super().__init__(message)
        self.key = key


def setting(
    default: Any,
    text: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
) -> Any:
    """Declare a field of a frozen settings dataclass.

    Args:
        default: value of the field.
        text: what it means, with its unit.
        low: least value allowed.
        high: greatest value allowed.
        above: value that it must exceed.
    """
    metadata = {"text": text, "low": low, "high": high, "above": above}
    # pylint: disable-next=invalid-field-call
    return dataclasses.field(default=default, metadata=metadata)


def check(settings: Any) -> None:
    """Check every field of a settings dataclass against its type and range.

    Raises:
        SettingError: Names the field, what was given and what is expected.
    """
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        converted = convert(field.name, value, hints[field.name])
        object.__setattr__(settings, field.name, converted)
        if converted is not None:
            _check_range(field, converted)


def convert(name: str, value: Any, hint: Any) -> Any:
    """Return a value as the type that a hint asks for, without loss.

    Raises:
        SettingError: It has another type.
    """
    choices = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        for choice in choices:
            try:
                return convert(name, value, choice)
            except SettingError:
                continue
    elif origin is tuple:
        # An item of the wrong type is reported with the whole.
        if isinstance(value, (list, tuple)):
            with contextlib.suppress(SettingError):
                return tuple(convert(name, item, choices[0]) for item in value)
    elif origin is typing.Literal:
        if value in choices:
            return value
    elif hint is types.NoneType:
        if value is None:
            return None
    elif hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    elif hint is float:
        if isinstance(value, float):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return float(min(value, 10**300))
    elif hint is Any or (
        isinstance(value, origin or hint)
        and (hint is bool or not isinstance(value, bool))
    ):
        return value
    raise SettingError(f"{name} must be {_describe(hint)}, but is {value!r}.", name)


def check_names(names: Iterable[str], known: Iterable[str], where: str) -> None:
    """Check that all names are known.

    Raises:
        SettingError: Names the first that is not, and the nearest known ones.
    """
    known = list(known)
    for name in names:
        if name not in known:
            near = nearest(name, known)
            raise SettingError(f"{where} {name!r} is unknown{near}", name)


def nearest(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the end of a sentence that names what may have been meant.

    Args:
        name: what was given.
        known: what could have been.
        otherwise: said if none is near, in place of all that are known.
    """
    known = sorted(known)
    near = difflib.get_close_matches(str(name), known, 3, 0.6)
    if near:
        return f": did you mean {' or '.join(near)}?"
    return f": {otherwise or 'known are ' + ', '.join(known)}."


def field_values(settings: Any) -> Mapping[str, Any]:
    """Return the fields of a settings dataclass by name, in order."""
    return {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}


def _check_range(field: dataclasses.Field[Any], value: Any) -> None:
    low, high, above = (field.metadata.get(key) for key in ("low", "high", "above"))
    for number in _numbers(value):
        if not isinstance(number, (int, float)):
            continue
        if not math.isfinite(number):
            wrong = "be finite"
        elif high is None and number > _LARGEST:
            wrong = f"be at most {_LARGEST:,}"
        elif low is not None and not number >= low:
            wrong = f"be at least {low}"
        elif high is not None and not number <= high:
            wrong = f"be at most {high}"
        elif above is not None and not number > above:
            wrong = f"be above {above}"
        else:
            continue
        raise SettingError(f"{field.name} must {wrong}, but is {value!r}.", field.name)


def _numbers(value: Any) -> Iterator[Any]:
    if not isinstance(value, tuple):
        yield value
        return
    for part in value:
        yield from _numbers(part)


def _describe(hint: Any) -> str:
    origin, choices = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_describe(choice) for choice in choices)
    if origin is tuple:
        return f"a list of {_describe(choices[0])}"
    if origin is typing.Literal:
        return " or ".join(repr(choice) for choice in choices)
    names = {int: "a whole number", float: "a number", bool: "true or false"}
    names |= {str: "a text", types.NoneType: "null"}
    return names.get(hint, getattr(origin or hint, "__name__", str(hint)).lower())
