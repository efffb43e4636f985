"""Checkpoints of all that changes in a run."""

import pathlib
import sys

import tensorflow as tf

from agents.tools.faults import CheckpointError

KEEP = 3


class Checkpoints:
    """Saves and restores trackable objects, keeping the newest few.

    A checkpoint is there when its index is, which is written last.
    """

    def __init__(self, directory: pathlib.Path, **objects: tf.Module | tf.Variable):
        """Name what is saved, in a directory that need not exist yet."""
        self._directory = directory
        self._checkpoint = tf.train.Checkpoint(**objects)

    def save(self, step: int) -> None:
        """Write a checkpoint, and remove the oldest beyond those to keep."""
        self._checkpoint.write(str(self._directory / f"step-{step}"))
        for index in self._newest_first()[KEEP:]:
            for path in self._directory.glob(f"{index.stem}.*"):
                path.unlink()

    def restore(self) -> None:
        """Take on the newest checkpoint; where it is damaged, the one before.

        Raises:
            CheckpointError: There is none that holds what this run needs.
        """
        found = self._newest_first()
        if not found:
            raise CheckpointError(f"There is no checkpoint in {self._directory}.")
        for index in found:
            try:
                status = self._checkpoint.read(str(index.with_suffix("")))
                status.expect_partial()
                status.assert_existing_objects_matched()
                return
            # A damaged file can make TensorFlow raise nearly anything.
            except Exception as error:  # pylint: disable=broad-exception-caught
                first_line = str(error).strip().partition("\n")[0]
                message = f"The checkpoint {index} is damaged or of another network"
                print(f"{message}: {first_line}", file=sys.stderr)
        raise CheckpointError(
            f"No checkpoint in {self._directory} can be used: start the run anew."
        )

    def _newest_first(self) -> list[pathlib.Path]:
        found = self._directory.glob("step-*.index")
        return sorted(found, key=lambda path: int(path.stem[5:]), reverse=True)
