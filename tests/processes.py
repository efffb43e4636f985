"""What the tests need to know about processes, from /proc."""

import os
import pathlib
import time


def is_running(process_id: int) -> bool:
    """Return whether a process exists and has not ended."""
    return _state_and_parent(process_id)[0] not in ("", "Z")


def children(parent_id: int | None = None) -> set[int]:
    """Return the process ids of a process's children that have not ended.

    Args:
        parent_id: of the process; default: this one.
    """
    parent_id = parent_id or os.getpid()
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        state, parent = _state_and_parent(int(path.name))
        if state not in ("", "Z") and parent == parent_id:
            found.add(int(path.name))
    return found


def seconds_until_ended(process_ids: list[int], limit: float) -> float:
    """Return how long the last of some processes takes to end, at most the limit."""
    start = time.monotonic()
    while any(map(is_running, process_ids)) and time.monotonic() < start + limit:
        time.sleep(0.02)
    return time.monotonic() - start


def _state_and_parent(process_id: int) -> tuple[str, int]:
    try:
        text = pathlib.Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8")
    except OSError:
        return "", 0
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)
