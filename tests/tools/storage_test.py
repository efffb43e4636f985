"""Metrics and checkpoints, and disks that fail."""

import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import tensorflow as tf

from agents.tools import run_directory
from agents.tools.faults import EnvironmentFault, StorageFault
from agents.tools.run_directory import RunDirectory
from agents.tools.stop_signal import Stopped
from agents.tools.storage import Storage
from agents.tools.writers import default_writers


class StorageTest(unittest.TestCase):
    """Of a run that is one number."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.run_directory = RunDirectory(pathlib.Path(folder, "run"))
        self.run_directory.create()
        self.value = tf.Module()
        self.value.size = tf.Variable(0, dtype=tf.int64)
        self.storage = Storage(
            self.run_directory,
            1,
            self.value.size,
            default_writers(),
            value=self.value,
        )

    def log(self, phase, step, score):
        """Write a line."""
        self.storage.log(phase, {"mean_score": score}, step)

    def test_what_was_logged_after_a_checkpoint_is_dropped(self):
        with self.storage:
            self.log("train", 1, 0.5)
            self.storage.save(1)
            self.log("eval", 1, 2.0)
        self.storage.resume()
        lines = run_directory.read_metrics(self.run_directory.metrics)
        self.assertEqual([line["phase"] for line in lines], ["train"])

    def test_the_best_evaluation_keeps_its_checkpoint(self):
        with self.storage:
            for step, score in ((1, 1.0), (2, 5.0), (3, 2.0), (4, 3.0)):
                self.storage.save(step)
                self.log("eval", step, score)
        self.assertEqual(self.run_directory.checkpoint_steps(), [4, 2])

    def test_a_run_directory_that_is_gone_is_named(self):
        shutil.rmtree(self.run_directory.path)
        message = "Could not write to .*run: it was removed.*Mend that"
        for write in (
            lambda: self.log("train", 1, 1.0),
            lambda: self.storage.save(1),
        ):
            with self.assertRaisesRegex(StorageFault, message):
                write()

    def test_what_tensorflow_says_is_cut_down_to_what_happened(self):
        text = "{{function_node x}} /runs/a; No space left on device [Op:SaveV2]"
        error = tf.errors.ResourceExhaustedError(None, None, text)
        with (
            mock.patch.object(tf.train.Checkpoint, "write", side_effect=error),
            self.assertRaisesRegex(StorageFault, r"/run: No space left on device\. M"),
            self.storage,
        ):
            self.storage.save(1)

    def test_a_write_that_failed_is_told_however_the_block_ends(self):
        """Instead of that it stopped, and beside what made the run fail."""
        fault = EnvironmentFault([0], "raised")
        for error, expected in (
            (None, StorageFault),
            (Stopped(15, "Stopped."), StorageFault),
            (fault, EnvironmentFault),
        ):
            printed = io.StringIO()
            with (
                contextlib.redirect_stderr(printed),
                mock.patch("os.fsync", side_effect=OSError(28, "No space left")),
                self.assertRaises(expected),
                self.storage,
            ):
                self.storage.save(1)
                if error:
                    raise error
            told = "No space left" in printed.getvalue()
            self.assertEqual(told, error is fault)


if __name__ == "__main__":
    unittest.main()
