"""Checkpoints of all that changes in a run."""

import concurrent.futures
import hashlib
import pathlib
import shutil
import sys
from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from agents.parts.variables import named_variables
from agents.tools.faults import CheckpointError
from agents.tools.files import reach_disk
from agents.tools.run_directory import checkpoint_path, saved_steps

KEEP = 3
_PREFIX = "variables"
_CHECKSUMS = "sha256"


class DamagedCheckpoint(CheckpointError):
    """A checkpoint that is not what was written."""


class Checkpoints:
    """Saves and restores trackable objects, keeping the newest few and the best.

    Each checkpoint is a folder that takes its name once all of it is on the disk. It is
    written by a thread, from copies, while the run goes on.
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
        self._executor = concurrent.futures.ThreadPoolExecutor(1)
        self._writing: concurrent.futures.Future[None] | None = None

    def save(
        self, step: int, best: int | None = None, before: Iterable[pathlib.Path] = ()
    ) -> None:
        """Begin to write a checkpoint; beyond those to keep, the oldest is removed.

        Args:
            step: by which it is found.
            best: step of one that is to stay, beside the newest.
            before: files that belong on the disk before it.

        Raises:
            OSError: The checkpoint before this one could not be written; so does
            tf.errors.OpError.
        """
        self.wait()
        values = [np.array(variable.numpy()) for variable in self._variables.values()]
        self._writing = self._executor.submit(
            self._write, step, values, best, [*before]
        )

    def wait(self) -> None:
        """Wait until the last checkpoint is on the disk.

        Raises:
            OSError: It could not be written; so does tf.errors.OpError.
        """
        writing, self._writing = self._writing, None
        if writing:
            writing.result()

    def restore(self, set_aside: bool = False) -> None:
        """Take on the newest checkpoint; where it is damaged, the one before.

        Args:
            set_aside: whether to rename those that are damaged, so that they are not
                counted among those to keep.

        Raises:
            CheckpointError: There is none that holds what this run needs.
        """
        steps = saved_steps(self._directory)
        if not steps:
            raise CheckpointError(f"There is no checkpoint in {self._directory}.")
        damaged = []
        for step in steps:
            try:
                self.restore_step(step)
            except DamagedCheckpoint as error:
                print(error, file=sys.stderr)
                damaged.append(checkpoint_path(self._directory, step))
                continue
            for path in damaged if set_aside else ():
                aside = path.with_name(f"damaged-{path.name}")
                shutil.rmtree(aside, ignore_errors=True)
                path.rename(aside)
            return
        raise CheckpointError(
            f"All checkpoints in {self._directory} are damaged: start the run anew."
        )

    def restore_step(self, step: int) -> None:
        """Take on the checkpoint of a step.

        Raises:
            DamagedCheckpoint: It is not what was written.
            CheckpointError: It does not hold what this run needs.
        """
        path = checkpoint_path(self._directory, step)
        try:
            _verify(path)
        except (OSError, ValueError) as error:
            raise DamagedCheckpoint(
                f"The checkpoint {path} is damaged: {error}"
            ) from error
        self._read(path)

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
        before: list[pathlib.Path],
    ) -> None:
        for copy, value in zip(self._copies.values(), values, strict=True):
            copy.assign(value)
        unfinished = self._directory / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        self._checkpoint.write(str(unfinished / _PREFIX))
        sums = [f"{_sum(path)}  {path.name}\n" for path in sorted(unfinished.iterdir())]
        (unfinished / _CHECKSUMS).write_text("".join(sums), encoding="utf-8")
        for path in (*before, *unfinished.iterdir(), unfinished):
            reach_disk(path)
        target = checkpoint_path(self._directory, step)
        self._remove(target)
        unfinished.rename(target)
        for folder in (self._directory, self._directory.parent):
            reach_disk(folder)
        for old in saved_steps(self._directory)[self._keep :]:
            if old != best:
                self._remove(checkpoint_path(self._directory, old))

    def _remove(self, path: pathlib.Path) -> None:
        """Remove a checkpoint so that half of it is never taken for one."""
        removed = self._directory / "removed"
        shutil.rmtree(removed, ignore_errors=True)
        if path.exists():
            shutil.rmtree(path.rename(removed))


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
