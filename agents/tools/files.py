"""Files that outlive a loss of power."""

import os
import pathlib


def reach_disk(path: pathlib.Path) -> None:
    """Wait until a file, or the names in a folder, would outlive a loss of power.

    Raises:
        OSError: It can't be written.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_text(path: pathlib.Path, text: str) -> None:
    """Write a file so that it holds the old text or the new one at any moment.

    Raises:
        OSError: It can't be written.
    """
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    reach_disk(new)
    new.replace(path)
    reach_disk(path.parent)
