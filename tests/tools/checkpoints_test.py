"""Checkpoints in a temporary folder."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf

from agents.tools.checkpoints import KEEP, Checkpoints
from agents.tools.faults import CheckpointError


class CheckpointsTest(unittest.TestCase):
    """Of one variable."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.value = tf.Variable(1.0)
        self.checkpoints = Checkpoints(self.folder / "here", value=self.value)

    def save(self, step, value=1.0, **options):
        """Save a value, and wait until it is on the disk."""
        self.value.assign(value)
        self.checkpoints.save(step, **options)
        self.checkpoints.wait()

    def restore(self, set_aside=True):
        """Restore; return the value and what was printed."""
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.checkpoints.restore(set_aside)
        return float(self.value), printed.getvalue()

    def names(self):
        """Return the names of what lies in the folder."""
        return sorted(path.name for path in (self.folder / "here").iterdir())

    def test_restores_the_newest_or_a_given_one(self):
        for step in (10, 20, 9):
            self.save(step, value=step)
        self.value.assign(3.0)
        self.assertEqual(self.restore(), (20, ""))
        self.checkpoints.restore_step(9)
        self.assertEqual(float(self.value), 9)
        with self.assertRaisesRegex(CheckpointError, "step-8 is damaged: .*No such"):
            self.checkpoints.restore_step(8)

    def test_what_changes_after_the_call_is_not_saved(self):
        self.checkpoints.save(10)
        self.value.assign(2.0)
        self.checkpoints.wait()
        self.assertEqual(self.restore()[0], 1)

    def test_all_kinds_of_variables_come_back(self):
        layer = keras.layers.Dense(3, bias_initializer="random_normal")
        layer.build((None, 2))
        module = tf.Module()
        module.layers = [layer]
        module.text = tf.Variable(b"[0.1]")
        module.flag = tf.Variable(True)
        module.count = tf.Variable(2**60, dtype=tf.int64)
        variables = [*layer.variables, module.text, module.flag, module.count]
        expected = [tf.convert_to_tensor(variable).numpy() for variable in variables]
        checkpoints = Checkpoints(self.folder / "nested", module=module)
        checkpoints.save(0)
        checkpoints.wait()
        for variable in variables:
            variable.assign(tf.zeros(variable.shape, variable.dtype))
        checkpoints.restore()
        for variable, value in zip(variables, expected, strict=True):
            np.testing.assert_array_equal(tf.convert_to_tensor(variable), value)

    def test_a_part_can_be_restored(self):
        other = tf.Variable(5.0)
        both = Checkpoints(self.folder / "here", value=self.value, other=other)
        both.save(10)
        both.wait()
        self.value.assign(2.0)
        self.assertEqual(self.restore()[0], 1)

    def test_the_folder_can_be_moved(self):
        self.save(10)
        moved = (self.folder / "here").rename(self.folder / "there")
        other = tf.Variable(0.0)
        Checkpoints(moved, value=other).restore()
        self.assertEqual(float(other), 1.0)

    def test_keeps_the_newest_few_and_the_best(self):
        for step in range(KEEP + 3):
            self.save(step, best=1 if step > 1 else None)
        kept = [f"step-{step}" for step in (1, *range(3, KEEP + 3))]
        self.assertEqual(self.names(), kept)
        self.save(KEEP + 3, best=KEEP + 2)
        self.assertNotIn("step-1", self.names())

    def test_what_does_not_fit_is_an_error_and_stays(self):
        self.save(10)
        for other in ({"value": tf.Variable([1.0])}, {"another": tf.Variable(1.0)}):
            with self.assertRaisesRegex(CheckpointError, "is whole, but of another"):
                Checkpoints(self.folder / "here", **other).restore()
        self.assertEqual(self.names(), ["step-10"])

    def test_every_byte_is_verified(self):
        self.save(10, value=1)
        self.save(20, value=2)
        newest = self.folder / "here" / "step-20"
        names = {path.name for path in newest.iterdir()}
        data = "variables.data-00000-of-00001"
        self.assertEqual(names, {"sha256", "variables.index", data})
        for path in newest.iterdir():
            content = path.read_bytes()
            for position in range(0, len(content), 7):
                damaged = bytearray(content)
                damaged[position] ^= 1
                path.write_bytes(damaged)
                value, printed = self.restore()
                self.assertEqual(value, 1)
                self.assertIn("step-20 is damaged: ", printed)
                (self.folder / "here" / "damaged-step-20").rename(newest)
            path.write_bytes(content)
        self.assertEqual(self.restore(), (2, ""))

    def test_a_damaged_one_is_set_aside_and_not_counted(self):
        for number in range(KEEP):
            self.save(10 * number, value=number)
        newest = f"step-{10 * KEEP - 10}"
        for path in (self.folder / "here" / newest).iterdir():
            path.unlink()
        for set_aside in (False, True):
            self.assertIn(newest, self.names())
            value, printed = self.restore(set_aside)
            self.assertEqual(value, KEEP - 2)
            self.assertEqual(len(printed.splitlines()), 1)
        self.assertNotIn(newest, self.names())
        self.assertIn(f"damaged-{newest}", self.names())
        self.save(10 * KEEP - 5)
        self.assertIn("step-0", self.names())

    def test_if_all_are_damaged_they_stay(self):
        self.save(10)
        (self.folder / "here/step-10/sha256").unlink()
        with self.assertRaisesRegex(CheckpointError, "All .* are damaged: start"):
            self.restore()
        self.assertEqual(self.names(), ["step-10"])

    def test_one_that_was_not_finished_is_none(self):
        self.save(10)
        failing = mock.patch("os.fsync", side_effect=OSError("the disk is gone"))
        with failing, self.assertRaisesRegex(OSError, "the disk is gone"):
            self.save(20, value=2)
        self.assertEqual(self.restore()[0], 1)
        self.save(20, value=3)
        self.assertEqual(self.names(), ["step-10", "step-20"])

    def test_a_failure_is_told_once_when_it_is_waited_for(self):
        blocked = self.folder / "file"
        blocked.touch()
        checkpoints = Checkpoints(blocked / "here", value=self.value)
        for end in (checkpoints.wait, lambda: checkpoints.save(20)):
            checkpoints.save(10)
            with self.assertRaises(OSError):
                end()
        checkpoints.wait()

    def test_none_is_an_error(self):
        with self.assertRaisesRegex(CheckpointError, "no checkpoint"):
            self.checkpoints.restore()


if __name__ == "__main__":
    unittest.main()
