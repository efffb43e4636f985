"""Folders of runs."""

import json
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
            run_directory.checkpoint_path(run.checkpoints, 0).mkdir(parents=True)
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

    def test_is_complete_when_it_is_saved_and_evaluated(self):
        run = self.make_run("20260101T000000-pendulum")
        for step, lines, expected in (
            (0, [("eval", 64)], False),
            (64, [("train", 64)], False),
            (64, [("eval", 32)], False),
            (64, [("train", 64), ("eval", 64)], True),
        ):
            run_directory.checkpoint_path(run.checkpoints, step).mkdir(exist_ok=True)
            text = [json.dumps({"phase": p, "step": s}) for p, s in lines]
            run.metrics.write_text("\n".join(text), encoding="utf-8")
            self.assertEqual(run.is_complete(64), expected, lines)

    def test_the_best_evaluation_counts_where_there_is_a_checkpoint(self):
        run = self.make_run("20260101T000000-pendulum")
        for step in (16, 32, 48):
            run_directory.checkpoint_path(run.checkpoints, step).mkdir()
        self.assertIsNone(run.best_step({64: 9.0}))
        scores = {16: 1.0, 32: 5.0, 48: 5.0, 64: 9.0}
        self.assertEqual(run.best_step(scores), 48)

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
            good = {"phase": "train", "step": 1, "mean_score": None, "loss": 0.5}
            for bad in (
                '{"phase": "tra',
                "[1]",
                '{"phase": "train"}',
                '{"phase": "../x", "step": 1}',
                '{"phase": "train", "step": 1, "loss": [1]}',
            ):
                path.write_text(f"{json.dumps(good)}\n{bad}\n", encoding="utf-8")
                self.assertEqual(run_directory.read_metrics(path), [good])

    def test_no_file_has_no_lines(self):
        self.assertEqual(run_directory.read_metrics(pathlib.Path("missing")), [])


class LockTest(unittest.TestCase):
    """One trainer at a time."""

    def test_a_second_trainer_is_refused_until_the_first_has_ended(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        first, second = (RunDirectory(pathlib.Path(folder)) for _ in range(2))
        with first.locked():
            with self.assertRaisesRegex(SettingError, "being trained by another"):
                with second.locked():
                    self.fail()
        with second.locked():
            pass


if __name__ == "__main__":
    unittest.main()
