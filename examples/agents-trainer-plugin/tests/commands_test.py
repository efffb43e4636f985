"""The commands, with the configs of this package: no line of it is about them."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorflow as tf

import agents_trainer_plugin
from agents.scripts import presets
from agents.tools.run_directory import RunDirectory, checkpoint_path

CONFIGS = pathlib.Path(agents_trainer_plugin.__file__).parent
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


class KilledRun:
    """A run that was killed and resumed, beside one that never stopped."""

    name: str
    settings: dict

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        options = [f"--set={key}={value}" for key, value in cls.settings.items()]
        command = [*TRAIN, f"--config={config(cls.name)}", "--noenv_processes"]
        call(*command, *options, f"--logdir={folder}/undisturbed")
        cls.undisturbed = only_run(f"{folder}/undisturbed")
        logdir = f"--logdir={folder}/killed"
        with subprocess.Popen(
            [*command, *options, logdir],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            for line in process.stdout:
                if line.startswith("train"):
                    break
            process.kill()
        cls.killed = only_run(f"{folder}/killed")
        cls.killed_at = max(cls.killed.checkpoint_steps())
        call(*TRAIN, logdir, f"--timestamp={cls.killed.timestamp}")

    def test_it_ends_as_if_it_had_never_stopped_to_the_bit(self):
        self.assertTrue(0 < self.killed_at < self.settings["steps"], self.killed_at)
        self.assertEqual(metrics(self.killed), metrics(self.undisturbed))
        expected, found = variables(self.undisturbed), variables(self.killed)
        self.assertGreater(len(expected), 10)
        self.assertEqual(
            [name for name in expected if expected[name] != found.get(name)], []
        )
        self.assertEqual(expected.keys(), found.keys())

    def test_it_can_be_looked_at(self):
        path = self.killed.path
        call(*VISUALIZE, f"--logdir={path}", "--episodes=1")
        text = (path / "videos" / "statistics.json").read_text("utf-8")
        self.assertGreater(json.loads(text)["mean_score"], 8)
        self.assertEqual(len(list((path / "videos").glob("*.mp4"))), 1)


class A2CTest(KilledRun, unittest.TestCase):
    """A2C on CartPole."""

    name = "a2c/a2c_cartpole"
    settings = {
        "steps": 40_960,
        "checkpoint_steps": 4_096,
        "eval_every": 16_384,
        "eval_episodes": 4,
    }


class DQNTest(KilledRun, unittest.TestCase):
    """DQN on CartPole, with priorities, and a memory that is full half-way."""

    name = "dqn/dqn_cartpole"
    settings = {
        "steps": 16_384,
        "checkpoint_steps": 2_048,
        "eval_every": 8_192,
        "eval_episodes": 4,
        "priority_exponent": 0.6,
        "dueling": True,
        "replay_capacity": 8_192,
    }


if __name__ == "__main__":
    unittest.main()
