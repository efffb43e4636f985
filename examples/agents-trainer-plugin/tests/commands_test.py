"""The commands, with the configs of this package: no line of it is about them."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorflow as tf

from agents.scripts import presets
from agents.tools.run_directory import RunDirectory, checkpoint_path

CONFIGS = pathlib.Path(__file__).parents[1] / "agents_trainer_plugin"
TRAIN = [sys.executable, "-m", "agents.scripts.train"]
VISUALIZE = [sys.executable, "-m", "agents.scripts.visualize"]
# They tell of the clock.
EXEMPT = ("wall_seconds", "steps_per_second", "metrics_size")


def config(name):
    """Return what `--config` takes."""
    return str(CONFIGS / f"{name}.yaml")


def call(*command):
    """Run a command; return what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


def only_run(logdir):
    """Return the run in a folder."""
    (path,) = pathlib.Path(logdir).iterdir()
    return RunDirectory(path)


def metrics(run):
    """Return the lines of a run, less what tells of the clock."""
    lines = [json.loads(text) for text in run.metrics.read_text("utf-8").splitlines()]
    return [{k: v for k, v in line.items() if k not in EXEMPT} for line in lines]


def variables(run):
    """Return all that the last checkpoint of a run holds, by name."""
    path = checkpoint_path(run.checkpoints, max(run.checkpoint_steps()))
    reader = tf.train.load_checkpoint(str(path / "variables"))
    return {
        name: np.asarray(reader.get_tensor(name)).tobytes()
        for name in reader.get_variable_to_shape_map()
        if not any(exempt in name for exempt in EXEMPT)
    }


class ConfigsTest(unittest.TestCase):
    """The files that this package ships."""

    def test_each_is_read_and_names_its_trainer(self):
        files = sorted(CONFIGS.glob("*/*.yaml"))
        self.assertEqual(len(files), 3)
        for path in files:
            found = presets.find(str(path), {})
            self.assertEqual(found.algorithm, path.parent.name)

    def test_the_trainers_are_listed_with_their_package(self):
        printed = call(*TRAIN, "--list")
        for name in ("a2c", "dqn"):
            self.assertRegex(printed, rf"\n  {name} +agents-trainer-plugin\n")


class ScoreTest(unittest.TestCase):
    """Trained for real: CartPole, of at most 500, on one seed."""

    def check(self, name, steps):
        """Train by a config as it is, and check the last evaluation."""
        with tempfile.TemporaryDirectory() as logdir:
            arguments = [f"--config={config(name)}", f"--logdir={logdir}"]
            call(*TRAIN, *arguments, "--backend=tensorflow")
            last = [x for x in metrics(only_run(logdir)) if x["phase"] == "eval"][-1]
        self.assertLessEqual(last["step"], steps)
        self.assertGreaterEqual(last["mean_score"], 475)

    def test_a2c_balances_the_pole(self):
        self.check("a2c/a2c_cartpole", 501_000)

    def test_dqn_balances_the_pole_in_a_fifth_of_the_steps(self):
        self.check("dqn/dqn_cartpole", 100_352)


class KilledRunTest(unittest.TestCase):
    """Runs that were killed and resumed, beside ones that never stopped."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def train(self, name, settings):
        """Train by a config; return the run."""
        logdir = f"{self.folder}/undisturbed"
        call(*self.command(name, settings), f"--logdir={logdir}")
        return only_run(logdir)

    def train_killed(self, name, settings):
        """Train by a config, killed after its first checkpoint; return the run."""
        logdir = f"{self.folder}/killed"
        with subprocess.Popen(
            [*self.command(name, settings), f"--logdir={logdir}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            for _ in process.stdout:
                if any(pathlib.Path(logdir).iterdir()):
                    if max(only_run(logdir).checkpoint_steps(), default=0) > 0:
                        break
            process.kill()
        run = only_run(logdir)
        killed_at = max(run.checkpoint_steps())
        self.assertTrue(0 < killed_at < settings["steps"], killed_at)
        call(*TRAIN, f"--logdir={logdir}", f"--timestamp={run.timestamp}")
        return run

    def command(self, name, settings):
        """Return the command that trains without worker processes."""
        options = [f"--set={key}={value}" for key, value in settings.items()]
        return [*TRAIN, f"--config={config(name)}", "--noenv_processes", *options]

    def check(self, name, settings):
        """Compare two runs to the bit, and look at the one that was killed."""
        undisturbed = self.train(name, settings)
        killed = self.train_killed(name, settings)
        self.assertEqual(metrics(killed), metrics(undisturbed))
        expected, found = variables(undisturbed), variables(killed)
        self.assertGreater(len(expected), 10)
        self.assertEqual(expected.keys(), found.keys())
        self.assertEqual([x for x in expected if expected[x] != found[x]], [])

        call(*VISUALIZE, f"--logdir={killed.path}", "--episodes=1")
        text = (killed.path / "videos" / "statistics.json").read_text("utf-8")
        self.assertGreater(json.loads(text)["mean_score"], 8)
        self.assertEqual(len(list((killed.path / "videos").glob("*.mp4"))), 1)

    def test_a2c_ends_as_if_never_stopped_and_can_be_looked_at(self):
        settings = {
            "steps": 40_960,
            "checkpoint_steps": 4_096,
            "eval_every": 16_384,
            "eval_episodes": 4,
        }
        self.check("a2c/a2c_cartpole", settings)

    def test_dqn_as_well_with_priorities_and_a_memory_that_is_full_half_way(self):
        settings = {
            "steps": 16_384,
            "checkpoint_steps": 2_048,
            "eval_every": 8_192,
            "eval_episodes": 4,
            "priority_exponent": 0.6,
            "dueling": True,
            "replay_capacity": 8_192,
        }
        self.check("dqn/dqn_cartpole", settings)


if __name__ == "__main__":
    unittest.main()
