"""Checkpoints of all that changes in a run."""

import pathlib

import tensorflow as tf

from agents.tools.faults import CheckpointError

KEEP = 3


class Checkpoints:
    """Saves and restores trackable objects, keeping the newest few."""

    def __init__(self, directory: pathlib.Path, **objects: tf.Module | tf.Variable):
        """Name what is saved, in a directory that need not exist yet."""
        self._directory = directory
        self._checkpoint = tf.train.Checkpoint(**objects)
        self._manager = tf.train.CheckpointManager(
            self._checkpoint, str(directory), max_to_keep=KEEP, checkpoint_name="step"
        )

    def save(self, step: int) -> None:
        """Write a checkpoint that is complete before it replaces the last one."""
        self._manager.save(checkpoint_number=step)

    def restore(self) -> None:
        """Take on the newest checkpoint.

        Raises:
            CheckpointError: There is none, or it does not hold what this run needs.
        """
        newest = self._manager.latest_checkpoint
        if newest is None:
            raise CheckpointError(f"There is no checkpoint in {self._directory}.")
        try:
            status = self._checkpoint.restore(newest)
            status.assert_existing_objects_matched().expect_partial()
        except (AssertionError, ValueError, tf.errors.OpError) as error:
            raise CheckpointError(
                f"The checkpoint {newest} is damaged or of another version: {error}"
            ) from error
