"""Folders of runs."""

import pathlib
import tempfile
import unittest

from agents.parts.settings import SettingError
from agents.tools import run_directory
from agents.tools.run_directory import RunDirectory


class RunDirectoryTest(unittest.TestCase):
    """Runs below a temporary folder."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.logdir = pathlib.Path(folder)

    def make_run(self, name, usable=True):
        """Make the files that a run needs to be found."""
        run = RunDirectory(self.logdir / name)
        run.create()
        if usable:
            run.config.touch()
            run.checkpoints.mkdir()
            (run.checkpoints / "checkpoint").touch()
        return run

    def test_a_new_run_is_named_by_time_and_config(self):
        run = run_directory.new_run(self.logdir, "pendulum")
        self.assertRegex(run.path.name, r"^\d{8}T\d{6}-pendulum$")
        self.assertFalse(run.path.exists())

    def test_a_second_run_in_the_same_second_is_an_error(self):
        run = self.make_run("20260101T000000-pendulum")
        with self.assertRaisesRegex(SettingError, "same second"):
            run.create()

    def test_a_run_is_found_by_its_time(self):
        self.make_run("20260101T000000-pendulum")
        run = run_directory.find_run(self.logdir, "20260101T000000")
        self.assertEqual(run.path.name, "20260101T000000-pendulum")

    def test_a_time_without_a_run_is_an_error_that_names_the_newest(self):
        self.make_run("20260101T000000-pendulum")
        with self.assertRaisesRegex(SettingError, "newest is 20260101T000000"):
            run_directory.find_run(self.logdir, "20270101T000000")

    def test_a_run_without_a_checkpoint_is_an_error(self):
        self.make_run("20260101T000000-pendulum", usable=False)
        with self.assertRaisesRegex(SettingError, "no checkpoint"):
            run_directory.find_run(self.logdir, "20260101T000000")

    def test_two_runs_of_one_time_are_an_error(self):
        self.make_run("20260101T000000-pendulum")
        self.make_run("20260101T000000-cartpole")
        with self.assertRaisesRegex(SettingError, "both|and"):
            run_directory.find_run(self.logdir, "20260101T000000")

    def test_the_newest_usable_run_is_found_below_a_folder_or_by_its_path(self):
        first = self.make_run("20260101T000000-pendulum")
        second = self.make_run("20260102T000000-pendulum")
        self.make_run("20260103T000000-pendulum", usable=False)
        newest = run_directory.find_newest(self.logdir)
        self.assertEqual(newest.path, second.path)
        self.assertEqual(run_directory.find_newest(first.path).path, first.path)

    def test_nothing_to_find_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "no run"):
            run_directory.find_newest(self.logdir / "missing")


class ReadMetricsTest(unittest.TestCase):
    """The lines of a metrics file."""

    def test_a_line_that_was_cut_off_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "metrics.jsonl"
            path.write_text('{"step": 1}\n{"step": 2}\n{"ste', encoding="utf-8")
            lines = run_directory.read_metrics(path)
        self.assertEqual(lines, [{"step": 1}, {"step": 2}])


if __name__ == "__main__":
    unittest.main()
