"""Checkpoints in a temporary folder."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import tensorflow as tf

from agents.tools.checkpoints import KEEP, Checkpoints
from agents.tools.faults import CheckpointError


class CheckpointsTest(unittest.TestCase):
    """Of one variable."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.value = tf.Variable(1.0)
        self.checkpoints = Checkpoints(self.folder / "here", value=self.value)

    def test_restores_the_newest(self):
        self.checkpoints.save(10)
        self.value.assign(2.0)
        self.checkpoints.save(20)
        self.value.assign(3.0)
        self.checkpoints.restore()
        self.assertEqual(float(self.value), 2.0)

    def test_the_folder_can_be_moved(self):
        self.checkpoints.save(10)
        moved = (self.folder / "here").rename(self.folder / "there")
        other = tf.Variable(0.0)
        Checkpoints(moved, value=other).restore()
        self.assertEqual(float(other), 1.0)

    def test_keeps_the_newest_few(self):
        for step in range(KEEP + 2):
            self.checkpoints.save(step)
        kept = sorted(path.name for path in (self.folder / "here").glob("*.index"))
        self.assertEqual(kept, [f"step-{i + 2}.index" for i in range(KEEP)])

    def test_what_does_not_fit_is_an_error(self):
        self.checkpoints.save(10)
        for other in ({"value": tf.Variable([1.0])}, {"another": tf.Variable(1.0)}):
            with self.assertRaisesRegex(CheckpointError, "start the run anew"):
                Checkpoints(self.folder / "here", **other).restore()

    def test_a_damaged_one_falls_back_to_the_one_before(self):
        for damage in (b"", b"junk"):
            for kind in ("index", "data-00000-of-00001"):
                self.value.assign(1.0)
                self.checkpoints.save(10)
                self.value.assign(2.0)
                self.checkpoints.save(20)
                (self.folder / f"here/step-20.{kind}").write_bytes(damage)
                printed = io.StringIO()
                with contextlib.redirect_stderr(printed):
                    self.checkpoints.restore()
                self.assertEqual(float(self.value), 1.0)
                self.assertIn("step-20.index is damaged", printed.getvalue())

    def test_none_is_an_error(self):
        with self.assertRaisesRegex(CheckpointError, "no checkpoint"):
            self.checkpoints.restore()


if __name__ == "__main__":
    unittest.main()
