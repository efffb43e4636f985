"""Where XLA keeps compiled programs, so that a second start need not compile.

The folder is `~/.cache/batch-ppo/xla`, or what the environment variable
`AGENTS_XLA_CACHE` says; where that is empty, nothing is kept. It can be deleted at any
time. It is never in a run directory, which may come from a stranger: what is loaded
from the cache is machine code.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import shutil
import time
from collections.abc import MutableMapping
from typing import BinaryIO

VARIABLE = "AGENTS_XLA_CACHE"
_FLAG = "--tf_xla_persistent_cache_directory"
# Programs to keep, each of some MB: the newest.
_KEEP = 200
# Programs for another TensorFlow or processor go when they were not used for so long.
_UNUSED_SECONDS = 30 * 24 * 3600


def enable(environ: MutableMapping[str, str]) -> None:
    """Add to `TF_XLA_FLAGS` where to keep programs; call it before TensorFlow's import.

    A folder that can't be written to is left out, and so is a person's own choice kept.
    """
    own_flags = environ.get("TF_XLA_FLAGS", "")
    base = environ.get(VARIABLE)
    if base == "" or _FLAG in own_flags:
        return
    # No home, no folder, or a TensorFlow that is installed by another name.
    unusable = (OSError, RuntimeError, importlib.metadata.PackageNotFoundError)
    with contextlib.suppress(*unusable):
        folder = (pathlib.Path(base) if base else _default(environ)) / _name(environ)
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # Another run was faster.
            os.utime(folder)
            _remove_unused(folder.parent)
            _prune(folder)
        if os.access(folder, os.W_OK):
            environ["TF_XLA_FLAGS"] = f"{own_flags} {_FLAG}={folder}".strip()


def _default(environ: MutableMapping[str, str]) -> pathlib.Path:
    cache = environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "batch-ppo" / "xla"


def _name(environ: MutableMapping[str, str]) -> str:
    """Return a name for all that machine code depends on beside the program."""
    flags = ("XLA_FLAGS", "TF_XLA_FLAGS", "TF_NUM_INTRAOP_THREADS")
    traits = [platform.machine(), _processor_features(), str(os.cpu_count())]
    traits += [environ.get(flag, "") for flag in flags]
    digest = hashlib.sha256("\n".join(traits).encode()).hexdigest()
    return f"tensorflow-{importlib.metadata.version('tensorflow')}-{digest[:12]}"


def _processor_features() -> str:
    with contextlib.suppress(OSError):
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        for line in lines:
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def _remove_unused(base: pathlib.Path) -> None:
    for folder in base.glob("tensorflow-*-*"):
        if folder.stat().st_mtime < time.time() - _UNUSED_SECONDS:
            shutil.rmtree(folder)


def _prune(folder: pathlib.Path) -> None:
    files = sorted(folder.glob("*.pb"), key=lambda path: path.stat().st_mtime)
    for path in files[:-_KEEP]:
        path.unlink()
    for path in files[-_KEEP:]:
        if not _is_whole(path):
            path.unlink()


def _is_whole(path: pathlib.Path) -> bool:
    """Whether a protocol buffer ends where its outermost fields do.

    TensorFlow fails at a file that a power failure cut short, at every start.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            field, wire_type = divmod(_variable_length_number(file), 8)
            value = _variable_length_number(file)
            if field == 0 or wire_type not in (0, 2):
                return False
            if wire_type == 2:
                file.seek(value, os.SEEK_CUR)
        return 0 < file.tell() == size


def _variable_length_number(file: BinaryIO) -> int:
    number = shift = 0
    while byte := file.read(1):
        number |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:
            break
    return number
