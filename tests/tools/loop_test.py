"""Phases, boundaries, faults, and runs that stop and go on."""

import contextlib
import functools
import io
import itertools
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf

from agents.environments import classic_control
from agents.parts.trajectory import Trajectory
from agents.tools import constructors
from agents.tools.batch_env import BatchEnv
from agents.tools.console import Console
from agents.tools.evaluation import Evaluation
from agents.tools.faults import CheckpointError, EnvironmentFault, NumericFault
from agents.tools.in_graph_batch_env import InGraphBatchEnv
from agents.tools.loop import Loop, Schedule
from agents.tools.run_directory import RunDirectory
from agents.tools.statistics import EpisodeStatistics
from agents.tools.stop_signal import Stopped, StopSignal
from agents.tools.training_graph import TrainingGraph, cut_off
from agents.tools.wrappers.external_process import ExternalProcess
from tests import environments
from tests.learner import Learner, LearnerSettings


class SignalsItself(environments.Draws):
    """Sends a signal to this process in a step of its life."""

    def __init__(self, at_step, **kwargs):
        super().__init__(**kwargs)
        self.steps_left = at_step

    def step(self, action):
        """Count down to the signal."""
        self.steps_left -= 1
        if self.steps_left == 0:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # Until it was heard.
        return super().step(action)


def batch(*makers):
    """Make an in-graph batch in this process."""
    return InGraphBatchEnv(constructors.make_batch(makers))


def draws():
    """Make an environment with random observations."""
    return environments.Draws(5)


class LoopTest(unittest.TestCase):
    """2 environments, 4 steps an iteration: 8 steps; boundaries each 16 or 24."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.directory = pathlib.Path(folder)
        self.run_directory = RunDirectory(self.directory)
        self.output = io.StringIO()
        patch = mock.patch("sys.stdout", self.output)
        patch.start()
        self.addCleanup(patch.stop)

    def make(self, *makers, stored=True, loss=0.5, **changes):
        """Make a loop; return it and its algorithm."""
        env = batch(*(makers or (draws, draws)))
        learner = Learner(LearnerSettings(loss=loss), env)
        how = {"steps": 64, "eval_every": 32, "checkpoint_steps": 16, "seed": 1}
        loop = Loop(
            Schedule(**(how | changes)),
            TrainingGraph(env, learner),
            Evaluation(batch(draws), learner, 2),
            learner,
            Console(64),
            self.run_directory if stored else None,
        )
        return loop, learner

    def lines(self, *keys):
        """Return values of some keys from the metrics file."""
        text = self.run_directory.metrics.read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        return [tuple(row.get(key) for key in keys) for row in rows]

    def test_trains_to_boundaries_and_evaluates_when_due(self):
        self.make()[0].run()
        expected = [("train", 16), ("train", 32), ("eval", 32)]
        expected += [("train", 48), ("train", 64), ("eval", 64)]
        self.assertEqual(self.lines("phase", "step"), expected)

    def test_a_line_holds_what_the_documentation_names(self):
        self.make()[0].run()
        text = self.run_directory.metrics.read_text(encoding="utf-8")
        line = json.loads(text.splitlines()[0])
        names = {"phase", "step", "episodes", "mean_score", "std_score", "mean_length"}
        names |= {"steps_per_second", "wall_seconds", "loss"}
        self.assertEqual(set(line), names)
        # 16 steps are 8 of each environment: one episode of 5 steps in each.
        self.assertEqual((line["episodes"], line["mean_score"]), (2, 5.0))

    def test_boundaries_are_whole_iterations(self):
        self.make(checkpoint_steps=20, steps=50)[0].run()
        steps = [
            step for phase, step in self.lines("phase", "step") if phase == "train"
        ]
        self.assertEqual(steps, [24, 40, 56])

    def test_evaluates_at_the_end_in_any_case(self):
        self.make(eval_every=10**9)[0].run()
        self.assertEqual(self.lines("phase", "step")[-1], ("eval", 64))

    def test_the_algorithm_is_warmed_up_once_by_one_rollout(self):
        loop, learner = self.make()
        loop.run()
        self.assertEqual(float(learner.warm_up_count), 8)

    def test_one_seed_gives_equal_weights_and_another_does_not(self):
        weights = []
        for seed in (1, 1, 2):
            loop, learner = self.make(stored=False, seed=seed)
            loop.run()
            weights.append(float(learner.weight))
        self.assertEqual(weights[0], weights[1])
        self.assertNotEqual(weights[0], weights[2])

    def test_evaluation_does_not_change_what_is_learned(self):
        weights = []
        for eval_every in (16, 10**9):
            loop, learner = self.make(stored=False, eval_every=eval_every)
            loop.run()
            weights.append(float(learner.weight))
        self.assertEqual(weights[0], weights[1])

    def test_nothing_is_stored_without_a_directory(self):
        self.make(stored=False)[0].run()
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_each_function_is_traced_once(self):
        loop, _ = self.make(stored=False, steps=160)
        loop.run()
        graph = loop._graph  # pylint: disable=protected-access
        for function in (graph._iterate, graph._start):  # pylint: disable=W0212
            self.assertEqual(function.experimental_get_tracing_count(), 1)

    def test_stop_and_go_is_never_stopped(self):
        loop, learner = self.make()
        loop.run()
        expected = float(learner.weight)
        expected_lines = self.lines("phase", "step", "mean_score", "loss")
        for path in self.directory.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        self.run_directory.metrics.unlink()
        signals = functools.partial(SignalsItself, 15, steps=5)
        loop, learner = self.make(signals, draws)
        with self.assertRaises(Stopped) as raised:
            loop.run()
        self.assertEqual(raised.exception.exit_code, 130)
        self.assertNotEqual(float(learner.weight), expected)
        loop, learner = self.make()
        loop.resume()
        self.assertIn(loop.step, (16, 32, 48))
        loop.run()
        self.assertEqual(float(learner.weight), expected)
        lines = self.lines("phase", "step", "mean_score", "loss")
        self.assertEqual(lines, expected_lines)

    def test_a_run_that_stopped_before_its_first_boundary_is_warmed_up_once(self):
        loop, learner = self.make()
        loop.run()
        expected = float(learner.weight)
        shutil.rmtree(self.run_directory.checkpoints)
        self.run_directory.metrics.unlink()
        loop, _ = self.make(functools.partial(SignalsItself, 6, steps=5), draws)
        with (
            mock.patch.object(StopSignal, "seconds_left", 0),
            self.assertRaises(Stopped),
        ):
            loop.run()
        loop, learner = self.make()
        loop.resume()
        self.assertEqual(loop.step, 0)
        loop.run()
        self.assertEqual(float(learner.warm_up_count), 8)
        self.assertEqual(float(learner.weight), expected)

    def test_what_was_logged_after_the_checkpoint_is_dropped(self):
        self.make(steps=32)[0].run()
        before = self.lines("phase", "step")
        loop, _ = self.make(steps=32)
        loop.resume()
        self.assertEqual(self.lines("phase", "step"), before[:-1])
        loop.run()
        self.assertEqual(self.lines("phase", "step"), before)

    def test_the_goal_can_be_raised(self):
        self.make(steps=32)[0].run()
        loop, _ = self.make(steps=64)
        loop.resume()
        loop.run()
        self.assertEqual(loop.step, 64)

    def test_an_environment_that_fails_ends_the_run_and_leaves_the_checkpoint(self):
        env = functools.partial(environments.BadReward, at_step=7)
        loop, _ = self.make(draws, env)
        with self.assertRaisesRegex(EnvironmentFault, "Environment 1 .*reward nan"):
            loop.run()
        loop, _ = self.make()
        loop.resume()
        self.assertEqual(loop.step, 0)

    def test_a_loss_that_is_no_number_ends_the_run(self):
        loop, _ = self.make(loss=float("nan"))
        with self.assertRaisesRegex(NumericFault, "loss became nan .*step 0"):
            loop.run()

    def test_weights_that_are_no_numbers_are_not_saved(self):
        loop, learner = self.make()
        learner.weight.assign(np.inf)
        message = "variable algorithm/weight became inf before step 0"
        with self.assertRaisesRegex(NumericFault, message):
            loop.run()
        self.assertEqual(self.run_directory.checkpoint_steps(), [])

    def test_the_best_checkpoint_stays(self):
        """An evaluation each 16 steps, of which the first is best."""
        scores = itertools.chain([9.0], itertools.count(1.0, 0.1))

        def run(*_):
            statistics = EpisodeStatistics()
            statistics.scores, statistics.lengths = [next(scores)], [5]
            return statistics

        loop, _ = self.make(eval_every=16, steps=96)
        with mock.patch.object(Evaluation, "run", run):
            loop.run()
        self.assertEqual(self.run_directory.checkpoint_steps(), [96, 80, 64, 16])
        loop, _ = self.make(eval_every=16, steps=128)
        loop.resume()
        with mock.patch.object(Evaluation, "run", run):
            loop.run()
        self.assertEqual(self.run_directory.checkpoint_steps(), [128, 112, 96, 16])

    def test_restarts_of_workers_are_counted_in_the_metrics(self):
        env = functools.partial(environments.Crash, at_step=3)
        worker = ExternalProcess(env)
        self.addCleanup(worker.close)
        with contextlib.redirect_stderr(io.StringIO()):
            batch_env = InGraphBatchEnv(BatchEnv([worker], most_restarts=100))
            learner = Learner(LearnerSettings(), batch_env)
            Loop(
                Schedule(steps=16, eval_every=100, checkpoint_steps=8, seed=1),
                TrainingGraph(batch_env, learner),
                Evaluation(batch(draws), learner, 1),
                learner,
                Console(16),
                self.run_directory,
            ).run()
        # Every third step fails: 4 in warming up, then 8 of each interval.
        restarts = self.lines("phase", "worker_restarts", "episodes")
        expected = [("train", 3, 0), ("train", 5, 0), ("eval", None, 1)]
        self.assertEqual(restarts, expected)

    def test_a_damaged_checkpoint_is_an_error(self):
        self.make(steps=16)[0].run()
        for path in self.run_directory.checkpoints.glob("*/*.index"):
            path.write_bytes(b"junk")
        with self.assertRaisesRegex(CheckpointError, "start the run anew"):
            self.make()[0].resume()

    def test_without_a_checkpoint_nothing_is_resumed(self):
        with self.assertRaisesRegex(CheckpointError, "no checkpoint"):
            self.make()[0].resume()


class CompiledLoopTest(unittest.TestCase):
    """2 carts of 4 steps an iteration, in episodes of about 20."""

    def make(self, run=None, **changes):
        """Make a loop of 256 steps; return it and its algorithm."""
        env = classic_control.make("CartPole-v1", 2, None)
        learner = Learner(LearnerSettings(), env)
        how = {"steps": 256, "eval_every": 100, "checkpoint_steps": 128, "seed": 1}
        loop = Loop(
            Schedule(**(how | changes)),
            TrainingGraph(env, learner),
            Evaluation(env, learner, 2),
            learner,
            Console(256),
            run,
        )
        return loop, learner

    def setUp(self):
        self.enterContext(mock.patch("sys.stdout", io.StringIO()))

    def test_episodes_go_on_over_boundaries(self):
        weights = []
        for checkpoint_steps in (64, 10**6):
            loop, learner = self.make(checkpoint_steps=checkpoint_steps)
            loop.run()
            weights.append(float(learner.weight))
        self.assertEqual(weights[0], weights[1])

    def test_stopped_between_boundaries_is_never_stopped(self):
        """With one iteration a call, stopped after each 11 of the 32."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch("agents.tools.loop.CALL_SECONDS", 0))
        outcomes = []
        for iterations in (32, 11):
            run = RunDirectory(folder / f"{iterations}")
            run.create()
            loop, learner = self.make(run)
            stops = 0
            while not self.run_for(loop, iterations):
                stops += 1
                loop, learner = self.make(run)
                loop.resume()
                self.assertEqual(loop.step, stops * 8 * iterations)
            self.assertEqual(stops, 31 // iterations)
            lines = run.metrics.read_text("utf-8").splitlines()
            timed = ("wall_seconds", "steps_per_second")
            rows = [
                {k: v for k, v in json.loads(line).items() if k not in timed}
                for line in lines
            ]
            outcomes.append((float(learner.weight), rows))
        self.assertEqual([row["step"] for row in outcomes[0][1]], [128, 128, 256, 256])
        self.assertEqual(outcomes[0], outcomes[1])

    def run_for(self, loop, iterations):
        """Run until the end, or until so many iterations; return whether it ended."""
        answers = itertools.chain([False] * iterations, [True])
        with (
            mock.patch.object(loop, "_must_stop", lambda boundary: next(answers)),
            mock.patch.object(loop, "_stopped", lambda: Stopped(15, "")),
        ):
            try:
                loop.run()
            except Stopped:
                return False
        return True


class CutOffTest(unittest.TestCase):
    """The last row before a boundary."""

    def test_marks_the_last_row_as_truncated(self):
        flags = tf.constant([[False, True], [False, False]])
        trajectory = Trajectory(*[()] * 9)._replace(truncated=flags)
        for last, expected in ((True, [True, True]), (False, [False, False])):
            cut = cut_off(trajectory, tf.constant(last)).truncated
            np.testing.assert_array_equal(cut, [[False, True], expected])


if __name__ == "__main__":
    unittest.main()
