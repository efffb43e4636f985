"""What other packages register by entry points; one that fails disturbs nobody."""

import importlib.metadata
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Plugin(NamedTuple):
    """An entry point, loaded.

    Attributes:
        name: of the entry point.
        package: the distribution that has it.
        content: what came of it; None where it failed.
        fault: a sentence about how; empty where it did not.
    """

    name: str
    package: str
    content: Any
    fault: str


class Point(NamedTuple):
    """An entry point that is not loaded.

    Attributes:
        name: of the entry point.
        package: the distribution that has it.
        path: what it names.
    """

    name: str
    package: str
    path: str


def points(group: str) -> list[Point]:
    """Return the entry points of a group, without loading them."""
    return [
        Point(point.name, point.dist.name if point.dist else "unnamed", point.value)
        for point in importlib.metadata.entry_points(group=group)
    ]


def load(group: str, prepare: Callable[[Any, str], Any]) -> Iterator[Plugin]:
    """Load all entry points of a group.

    Args:
        group: of entry points.
        prepare: makes the content of what an entry point names, and its package; what
            it raises is a fault of the plugin.
    """
    for point in importlib.metadata.entry_points(group=group):
        package = point.dist.name if point.dist else "unnamed"
        try:
            content, fault = prepare(point.load(), package), ""
        # A plugin may do anything.
        except (Exception, SystemExit) as error:  # pylint: disable=broad-exception-caught
            content = None
            fault = (
                f"The plugin {point.name} of the package {package} ({point.value}) "
                f"failed to load: {describe(error)}."
            )
        yield Plugin(point.name, package, content, fault)


def describe(error: BaseException) -> str:
    """Return type and text of an error in one line."""
    text = " ".join(str(error).split()) or "without a word"
    return f"{type(error).__name__}: {text}".rstrip(".")
