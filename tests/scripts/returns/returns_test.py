"""Runs that are measured once, and what is reported about them."""

import contextlib
import dataclasses
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np

from agents.parts.settings import SettingError
from agents.tools.faults import RunFault
from scripts.returns import __main__ as returns
from scripts.returns import records, report, runs, zoo
from scripts.returns.records import Record
from scripts.returns.tasks import STEPS, TASKS


def record(**changes):
    """Return a record of Hopper."""
    made = Record(
        trainer="batch-ppo",
        task="hopper",
        env="Hopper-v5",
        seed=0,
        steps=STEPS,
        settings={},
        scores=[(500, 10.0), (STEPS, 2600.0)],
        deviation=5.0,
        episodes=32,
        seconds=60.0,
        revision="abc",
    )
    return dataclasses.replace(made, **changes)


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
                records.append(file, record(seed=seed, scores=[(STEPS, score)]))
            records.append(file, record(seed=2, settings={"clip_range": 0.3}))
            records.append(file, record(trainer=zoo.TRAINER, scores=[(STEPS, 1234.0)]))
            with contextlib.redirect_stdout(io.StringIO()):
                report.write(file)
            page = file.with_suffix(".md").read_text("utf-8")
            self.assertIn("| Hopper-v5 | **2,500** | 707 |", page)
            self.assertIn("| 0: 2,000, 1: 3,000 |", page)
            self.assertIn("**1,234**", page)
            self.assertNotIn("2,600.0", page)
            self.assertGreater(file.with_suffix(".png").stat().st_size, 1000)


class RunTest(unittest.TestCase):
    """Only what has no line yet is trained."""

    def run_all(self, file, *options):
        """Run with a training that ends at once; return what was trained."""
        trained = []

        def train(task, seed, steps, settings):
            trained.append((task, seed))
            return record(task=task, seed=seed, steps=steps, settings=settings)

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
            records.append(file, record(seed=1))
            expected = [("hopper", 0), ("walker", 0), ("walker", 1)]
            self.assertEqual(self.run_all(file), expected)
            self.assertEqual(self.run_all(file), [])
            self.assertEqual(len(self.run_all(file, "--set=discount=0.9")), 4)
            self.assertEqual(len(records.read(file)), 8)

    def test_a_run_that_fails_leaves_the_others_alone(self):
        def train(task, seed, steps, settings):
            if seed == 0:
                raise RunFault("It failed.")
            return record(task=task, seed=seed, steps=steps, settings=settings)

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
        made = runs.train("inverted_pendulum", 3, 256, small)
        self.assertEqual((made.env, made.seed), ("InvertedPendulum-v5", 3))
        self.assertEqual([step for step, _ in made.scores], [256])
        self.assertEqual(made.episodes, runs.EPISODES)
        self.assertGreater(made.score, 1)

    def test_every_task_is_a_preset(self):
        for task in TASKS:
            self.assertTrue(runs.env_of(task).endswith("-v5"))


if __name__ == "__main__":
    unittest.main()
