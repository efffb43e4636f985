"""Checkpoints of all that changes in a run."""

import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import sys
from collections.abc import Iterable
from typing import Self

import numpy as np
import tensorflow as tf

from agents.parts.variables import named_variables
from agents.tools.faults import CheckpointError

KEEP = 3
_PREFIX = "variables"
_CHECKSUMS = "sha256"


class Checkpoints:
    """Saves and restores trackable objects, keeping the newest few and the best.

    Each checkpoint is a folder that takes its name once all of it is on the disk. It is
    written by a thread, from copies, while the run goes on; leaving a `with` block
    waits for the last one.
    """

    def __init__(
        self,
        directory: pathlib.Path,
        keep: int = KEEP,
        **objects: tf.Module | tf.Variable,
    ):
        """Name what is saved, in a directory that need not exist yet.

        Args:
            directory: of the checkpoints.
            keep: how many of the newest stay.
            objects: what is saved; to restore, some of it will do.
        """
        self._directory = directory
        self._keep = keep
        self._variables = named_variables(**objects)
        # With a graph of objects of their own: writing that of an algorithm takes
        # twenty times as long as its numbers, and needs it to hold still.
        self._copies = {
            name: tf.Variable(variable, trainable=False)
            for name, variable in self._variables.items()
        }
        self._checkpoint = tf.train.Checkpoint(**{_PREFIX: self._copies})
        self._thread = concurrent.futures.ThreadPoolExecutor(1)
        self._writing: concurrent.futures.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.wait()
        except (OSError, tf.errors.OpError):
            # What ended the block says more.
            if kind is None:
                raise

    def save(
        self, step: int, best: int | None = None, first: Iterable[pathlib.Path] = ()
    ) -> None:
        """Begin to write a checkpoint; beyond those to keep, the oldest is removed.

        Args:
            step: by which it is found.
            best: step of one that is to stay, beside the newest.
            first: files that belong on the disk before it.

        Raises:
            OSError: The checkpoint before this one could not be written; so does
            tf.errors.OpError.
        """
        self.wait()
        values = [np.array(variable.numpy()) for variable in self._variables.values()]
        self._writing = self._thread.submit(self._write, step, values, best, [*first])

    def wait(self) -> None:
        """Wait until the last checkpoint is on the disk.

        Raises:
            OSError: It could not be written; so does tf.errors.OpError.
        """
        writing, self._writing = self._writing, None
        if writing:
            writing.result()

    def restore(self, step: int | None = None) -> None:
        """Take on the newest checkpoint; where it is damaged, the one before.

        Args:
            step: of another checkpoint, which is the only one to be tried.

        Raises:
            CheckpointError: There is none that holds what this run needs.
        """
        found = _newest_first(self._directory)
        if step is not None:
            found = [path for path in found if _step_of(path) == step]
        if not found:
            raise CheckpointError(f"There is no checkpoint in {self._directory}.")
        damaged = []
        for path in found:
            try:
                _verify(path)
            except (OSError, ValueError) as error:
                print(f"The checkpoint {path} is damaged: {error}", file=sys.stderr)
                damaged.append(path)
                continue
            self._read(path)
            for other in damaged:
                aside = other.with_name(f"damaged-{other.name}")
                shutil.rmtree(aside, ignore_errors=True)
                other.rename(aside)
            return
        raise CheckpointError(
            f"All checkpoints in {self._directory} are damaged: start the run anew."
        )

    def _read(self, path: pathlib.Path) -> None:
        try:
            status = self._checkpoint.read(str(path / _PREFIX))
            status.expect_partial()
            status.assert_existing_objects_matched()
        # A network of other shapes is a ValueError, others are AssertionErrors.
        except Exception as error:
            first_line = str(error).strip().partition("\n")[0]
            raise CheckpointError(
                f"The checkpoint {path} is whole, but of another network or algorithm "
                f"than this run's: {first_line}"
            ) from error
        for name, variable in self._variables.items():
            variable.assign(self._copies[name])

    def _write(
        self,
        step: int,
        values: list[np.ndarray],
        best: int | None,
        first: list[pathlib.Path],
    ) -> None:
        for copy, value in zip(self._copies.values(), values, strict=True):
            copy.assign(value)
        unfinished = self._directory / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        self._checkpoint.write(str(unfinished / _PREFIX))
        sums = [f"{_sum(path)}  {path.name}\n" for path in sorted(unfinished.iterdir())]
        (unfinished / _CHECKSUMS).write_text("".join(sums), encoding="utf-8")
        for path in (*first, *unfinished.iterdir(), unfinished):
            _reach_disk(path)
        target = self._directory / f"step-{step}"
        self._remove(target)
        unfinished.rename(target)
        _reach_disk(self._directory)
        for path in _newest_first(self._directory)[self._keep :]:
            if _step_of(path) != best:
                self._remove(path)

    def _remove(self, path: pathlib.Path) -> None:
        """Remove a checkpoint so that half of it is never taken for one."""
        removed = self._directory / "removed"
        shutil.rmtree(removed, ignore_errors=True)
        if path.exists():
            shutil.rmtree(path.rename(removed))


def _newest_first(directory: pathlib.Path) -> list[pathlib.Path]:
    found = [path for path in directory.glob("step-*") if path.name[5:].isdecimal()]
    return sorted(found, key=_step_of, reverse=True)


def _step_of(path: pathlib.Path) -> int:
    return int(path.name[5:])


def _verify(path: pathlib.Path) -> None:
    """Check every byte of a checkpoint.

    Raises:
        OSError: A file is missing, or can't be read.
        ValueError: A file is not what was written.
    """
    lines = (path / _CHECKSUMS).read_text("ascii").splitlines()
    expected = dict(reversed(line.split("  ")) for line in lines)
    if f"{_PREFIX}.index" not in expected:
        raise ValueError(f"{_CHECKSUMS} is not what was written")
    for name, text in expected.items():
        if _sum(path / pathlib.PurePath(name).name) != text:
            raise ValueError(f"{name} is not what was written")


def _sum(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reach_disk(path: pathlib.Path) -> None:
    """Wait until a file, or the names in a folder, would outlive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
