"""Runs that are measured once, and what is reported about them."""

import contextlib
import dataclasses
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np

from agents.parts.settings import SettingError
from agents.scripts import configs
from agents.tools.faults import RunFault
from scripts.returns import __main__ as returns
from scripts.returns import records, report, runs, study, zoo
from scripts.returns.records import Record
from scripts.returns.tasks import STEPS, TASKS

HOPPER = runs.plan("hopper", 0, STEPS, {})


def record(run=HOPPER, score=2600.0):
    """Return a record of a run."""
    return Record(
        run,
        scores=[[500, 10.0], [run.steps, score]],
        deviation=5.0,
        episodes=32,
        seconds=60.0,
        revision="abc",
    )


class RecordsTest(unittest.TestCase):
    """Lines of a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "results.jsonl")

    def test_are_read_as_they_were_written(self):
        made = [record(), record(zoo.plan("walker", 3, 500))]
        for one in made:
            records.append(self.file, one)
        self.assertEqual(records.read(self.file), made)
        self.assertEqual(records.read(self.file.with_name("none.jsonl")), [])

    def test_hold_every_setting_so_that_they_outlive_a_change_of_the_preset(self):
        run = runs.plan("hopper", 0, STEPS, {"clip_range": 0.3})
        self.assertEqual(run.settings["gae_lambda"], 0.9)
        self.assertEqual(runs.changes_of(run), {"clip_range": 0.3})
        changed = configs.hopper().replace(clip_range=0.3, discount=0.5)
        with mock.patch.object(configs, "hopper", lambda: changed):
            self.assertEqual(runs.changes_of(run), {"discount": 0.99})

    def test_a_setting_that_came_later_had_its_default(self):
        records.append(self.file, record())
        line = json.loads(self.file.read_text("utf-8"))
        del line["settings"]["activation"]
        self.file.write_text(json.dumps(line), encoding="utf-8")
        (read,) = records.read(self.file)
        self.assertEqual(read.run.settings["activation"], "tanh")
        self.assertEqual(read, record())


class StatisticsTest(unittest.TestCase):
    """The mean of the middle half."""

    def test_leaves_out_a_quarter_at_each_end(self):
        self.assertEqual(report.interquartile_mean(np.array([9.0, 1, 2, 3])), 2.5)
        # Of five, one at each end.
        self.assertEqual(report.interquartile_mean(np.array([100.0, 1, 2, 3, 7])), 4)
        several = np.array([[9.0, 1, 2, 3], [0, 0, 0, 0]])
        np.testing.assert_array_equal(report.interquartile_mean(several), [2.5, 0])

    def test_the_interval_lies_around_it(self):
        scores = np.array([1.0, 2, 3, 4, 5])
        low, high = report.interval(scores)
        self.assertLess(low, 3)
        self.assertGreater(high, 3)
        self.assertGreaterEqual(low, 1)
        self.assertLessEqual(high, 5)
        self.assertEqual(report.interval(np.array([7.0, 7, 7])), (7, 7))


class ReportTest(unittest.TestCase):
    """A page and a picture from lines."""

    def test_shows_every_seed_of_presets_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "results.jsonl")
            for seed, score in ((1, 3000.0), (0, 2000.0)):
                run = runs.plan("hopper", seed, STEPS, {})
                records.append(file, record(run, score))
            changed = runs.plan("hopper", 2, STEPS, {"clip_range": 0.3})
            records.append(file, record(changed, 9876.0))
            records.append(file, record(zoo.plan("hopper", 0, STEPS), 1234.0))
            with contextlib.redirect_stdout(io.StringIO()):
                report.write(file)
            page = file.with_suffix(".md").read_text("utf-8")
            self.assertIn("| Hopper-v5 | **2,500** | 707 |", page)
            self.assertIn("| 0: 2,000, 1: 3,000 |", page)
            self.assertIn("**1,234**", page)
            self.assertNotIn("9,876", page)
            self.assertGreater(file.with_suffix(".png").stat().st_size, 1000)


class RunTest(unittest.TestCase):
    """Only what has no line yet is trained."""

    def run_all(self, file, *options):
        """Run with a training that ends at once; return what was trained."""
        trained = []

        def train(run):
            trained.append((run.task, run.seed))
            return record(run)

        with (
            mock.patch.object(runs, "train", train),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            returns.main(
                ["run", "--tasks", "hopper", "walker", "--jobs=1"]
                + ["--seeds", "0", "1", f"--file={file}", *options]
            )
        return trained

    def test_goes_on_where_it_was_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "results.jsonl")
            records.append(file, record(runs.plan("hopper", 1, STEPS, {})))
            expected = [("hopper", 0), ("walker", 0), ("walker", 1)]
            self.assertEqual(self.run_all(file), expected)
            self.assertEqual(self.run_all(file), [])
            self.assertEqual(len(self.run_all(file, "--set=discount=0.9")), 4)
            self.assertEqual(len(records.read(file)), 8)

    def test_a_run_that_fails_leaves_the_others_alone(self):
        def train(run):
            if run.seed == 0:
                raise RunFault("It failed.")
            return record(run)

        stderr = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(runs, "train", train),
            contextlib.redirect_stderr(stderr),
        ):
            file = pathlib.Path(folder, "results.jsonl")
            with self.assertRaises(SystemExit):
                returns.main(["run", "--tasks", "hopper", "ant", f"--file={file}"])
            self.assertEqual(len(records.read(file)), 8)
        self.assertIn("2 runs failed", stderr.getvalue())

    def test_what_a_record_has_a_place_for_can_not_be_set(self):
        for text in ("seed=3", "env=Ant-v5", "discount"):
            with self.assertRaisesRegex(SettingError, "other than env, seed, steps"):
                runs.parse([text])

    def test_other_trainers_have_their_own_settings(self):
        for options, message in (
            (["--set=discount=0.9"], "settings of its own"),
            (["--tasks", "ant"], "for the tasks cheetah, hopper, walker"),
        ):
            stderr = io.StringIO()
            with contextlib.redirect_stderr(stderr), self.assertRaises(SystemExit):
                returns.main(["run", "--stable-baselines3", *options])
            self.assertIn(message, stderr.getvalue())

    def test_a_run_is_trained_by_the_command_and_read_from_its_metrics(self):
        small = {"num_agents": 2, "horizon": 64, "policy_layers": [8]}
        made = runs.train(runs.plan("inverted_pendulum", 3, 256, small))
        self.assertEqual(made.run.env, "InvertedPendulum-v5")
        self.assertEqual([step for step, _ in made.scores], [256])
        self.assertEqual(made.episodes, runs.EPISODES)
        self.assertGreater(made.score, 1)

    def test_others_are_evaluated_by_the_mode_with_their_statistics(self):
        # Of an optimal policy that saw the observations times 10.
        class Model:
            """What `evaluate` needs of a model."""

            def get_vec_normalize_env(self):
                """Return what has the statistics."""
                return self

            def normalize_obs(self, observation):
                """Return what the policy sees."""
                return observation * 10

            def predict(self, observation, deterministic):
                """Return an action and no state."""
                assert deterministic
                position, angle, _, speed = observation / 10
                return np.array([8 * angle + speed + 0.1 * position], "f4"), None

        scores = zoo.evaluate(Model(), "InvertedPendulum-v5", [0, 500])
        self.assertEqual(scores.shape, (runs.EPISODES,))
        np.testing.assert_array_equal(scores, 1000)

    def test_every_task_is_a_preset(self):
        for task in TASKS:
            self.assertTrue(runs.preset(task).env.endswith("-v5"))


class StudyTest(unittest.TestCase):
    """A table of what each change is worth."""

    def test_has_a_row_for_each_change_and_a_column_for_each_task(self):
        changed = runs.plan("walker", 101, STEPS, {"discount": 0.98})
        page = study.text(
            [
                record(changed, 1000.0),
                record(dataclasses.replace(changed, seed=100), 3000.0),
                record(runs.plan("hopper", 100, STEPS, {}), 500.0),
            ],
            "study.jsonl",
        )
        rows = [line for line in page.splitlines() if line.startswith("|")]
        expected = [
            "| settings | hopper | walker |",
            "| --- | --- | --- |",
            "| preset | **500** (500) |  |",
            "| `discount=0.98` |  | **2,000** (3,000, 1,000) |",
        ]
        self.assertEqual(rows, expected)


if __name__ == "__main__":
    unittest.main()
