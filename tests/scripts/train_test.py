"""The command `python -m agents.scripts.train`, as a person uses it."""

import contextlib
import functools
import io
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
from gymnasium import spaces

from agents.scripts import compilation_cache, train
from tests import environments, processes

# A run of about a second, beside TensorFlow's start and the compilation.
QUICK = [
    "--config=pendulum",
    "--set=steps=2048",
    "--set=checkpoint_steps=512",
    "--set=eval_every=1024",
    "--set=eval_episodes=4",
    "--set=num_agents=4",
    "--set=horizon=32",
    "--set=update_epochs=2",
    "--set=policy_layers=[8]",
    "--set=value_layers=[8]",
    "--set=max_length=20",
]
COMMAND = [sys.executable, "-m", "agents.scripts.train"]


class AsksForTensorFlow(environments.Tiny):
    """Raises in its third step, and says whether its process imported TensorFlow."""

    def step(self, action):
        """Count to three."""
        if self.count == 2:
            raise RuntimeError(f"tensorflow imported: {'tensorflow' in sys.modules}")
        return super().step(action)


class TrainTest(unittest.TestCase):
    """Runs below a temporary folder."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.logdir = pathlib.Path(folder) / "runs"

    def command(self, *arguments):
        """Return the command line with the folder of this test."""
        return [*COMMAND, f"--logdir={self.logdir}", *arguments]

    def train(self, *arguments, code=0):
        """Train to the end; return what was printed, with errors last."""
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_directory(self):
        """Return the only run there is."""
        (path,) = self.logdir.iterdir()
        return path

    def metrics(self):
        """Return the lines of the metrics file, but for what the clock tells."""
        text = (self.run_directory() / "metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            del line["wall_seconds"], line["steps_per_second"]
        return lines

    def resume(self, *arguments, code=0):
        """Resume the only run."""
        timestamp = self.run_directory().name.partition("-")[0]
        return self.train(f"--timestamp={timestamp}", *arguments, code=code)

    @contextlib.contextmanager
    def started(self, *arguments):
        """Start training, and make sure that it ends."""
        with subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def test_stores_a_run_and_names_the_next_commands(self):
        printed = self.train(*QUICK)
        run = self.run_directory()
        self.assertRegex(run.name, r"^\d{8}T\d{6}-pendulum$")
        names = {path.name for path in run.iterdir()}
        expected = {
            "config.yaml",
            "metrics.jsonl",
            "checkpoints",
            "train",
            "eval",
            "lock",
        }
        self.assertEqual(names, expected)
        self.assertIn(f"Run directory: {run}", printed)
        self.assertIn(f"--timestamp={run.name.partition('-')[0]}", printed)
        self.assertIn(f"agents.scripts.visualize --logdir={run}", printed)
        self.assertEqual(self.metrics()[-1]["phase"], "eval")
        self.assertEqual(self.metrics()[-1]["step"], 2048)

    def test_one_seed_gives_one_result_for_any_number_of_workers(self):
        results = []
        for workers in ("--noenv_processes", "--set=workers=3"):
            self.train(*QUICK, workers)
            results.append(self.metrics())
            shutil.rmtree(self.logdir)
        self.assertEqual(results[0], results[1])

    def test_killed_and_resumed_is_never_stopped(self):
        self.check_resume("--set=steps=8192", "--backend=gymnasium")

    def test_compiled_environments_killed_and_resumed_are_never_stopped(self):
        self.check_resume("--set=steps=65536", "--backend=tensorflow")

    def check_resume(self, *arguments):
        """Kill a run, move its folder, resume it; it must end as an undisturbed one."""
        self.train(*QUICK, *arguments)
        expected = self.metrics()
        shutil.rmtree(self.logdir)
        with self.started(*QUICK, *arguments) as process:
            for line in process.stdout:
                if line.startswith("eval"):
                    os.kill(process.pid, signal.SIGKILL)
                    break
        moved = self.logdir.with_name("moved")
        self.logdir.rename(moved)
        self.logdir = moved
        self.assertNotEqual(self.metrics(), expected)
        self.resume()
        self.assertEqual(self.metrics(), expected)

    def test_programs_from_the_cache_compute_the_same_numbers(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        variable = {compilation_cache.VARIABLE: folder}
        arguments = [*QUICK, "--set=steps=8192", "--backend=tensorflow"]
        metrics = []
        with mock.patch.dict(os.environ, variable):
            os.environ.pop("TF_XLA_FLAGS", None)
            for _ in range(2):
                self.train(*arguments)
                metrics.append(self.metrics())
                shutil.rmtree(self.logdir)
        self.assertTrue(list(pathlib.Path(folder).rglob("*.pb")))
        self.assertEqual(metrics[0], metrics[1])

    def test_ctrl_c_ends_with_a_checkpoint_and_nothing_left_running(self):
        with self.started(*QUICK, "--set=steps=1000000") as process:
            for line in process.stdout:
                if line.startswith("eval"):
                    break
            workers = processes.children(process.pid)
            self.assertGreaterEqual(len(workers), 2)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            printed = process.communicate(timeout=20)[0]
            self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(process.returncode, 130)
        self.assertNotIn("Traceback", printed)
        self.assertIn("Stopped at step", printed)
        self.assertFalse(any(map(processes.is_running, workers)))
        self.assertTrue(list(self.run_directory().glob("checkpoints/step-*")))

    def test_a_run_that_is_being_trained_can_not_be_resumed_beside(self):
        with self.started(*QUICK, "--set=steps=1000000") as process:
            for line in process.stdout:
                if line.startswith("eval"):
                    break
            self.assertIn("being trained by another process", self.resume(code=2))

    def test_commands_that_are_printed_can_be_pasted(self):
        self.logdir = self.logdir.with_name("a folder; with $signs")
        env = "tests.environments:Counter"
        printed = self.train(*QUICK, "--set=network=feed_forward", f"--set=env={env}")
        lines = printed.splitlines()
        (visualize,) = [line for line in lines if line.startswith("See it act")]
        command = shlex.split(visualize.partition(":")[2])
        self.assertEqual(
            command[3:], [f"--logdir={self.run_directory()}", f"--set=env={env}"]
        )
        subprocess.run(
            [*command, "--episodes=1"], check=True, stdout=subprocess.DEVNULL
        )

    def test_workers_are_free_of_tensorflow(self):
        printed = self.train(
            *QUICK,
            "--set=network=feed_forward",
            "--set=env=tests.scripts.train_test:AsksForTensorFlow",
            code=1,
        )
        self.assertIn("RuntimeError: tensorflow imported: False", printed)

    def test_an_environment_that_raises_is_named_with_its_own_traceback_once(self):
        printed = self.train(
            *QUICK,
            "--set=network=feed_forward",
            "--set=env=tests.environments:Crash",
            code=1,
        )
        self.assertEqual(printed.count("Traceback"), 1, printed)
        last = printed.rstrip().splitlines()[-1]
        self.assertRegex(last, "^Environment 0 raised: ValueError: crash in step 2")

    def test_a_goal_can_be_raised_on_resume_and_nothing_else_changed(self):
        self.train(*QUICK)
        self.assertIn("is complete", self.resume(code=2))
        self.resume("--set=steps=2304")
        self.assertEqual(self.metrics()[-1]["step"], 2304)
        before = {path: path.stat().st_mtime for path in self.logdir.rglob("*")}
        for arguments, message in (
            (["--set=discount=0.5"], "discount can't change"),
            (["--seed=7"], "seed can't change"),
            (["--set=steps=100"], "steps can be raised"),
            (["--config=cartpole"], "--config=pendulum"),
            (["--set=horizn=3"], "did you mean horizon"),
        ):
            printed = self.resume(*arguments, code=2)
            self.assertIn(message, printed)
            self.assertEqual(len(printed.splitlines()), 1, printed)
        after = {path: path.stat().st_mtime for path in self.logdir.rglob("*")}
        self.assertEqual(before, after)


class UsageErrorTest(unittest.TestCase):
    """Mistakes: one sentence, exit code 2, nothing written."""

    def refuse(self, message, *arguments, code=2):
        """Expect an error that matches a message."""
        error = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            with (
                contextlib.redirect_stderr(error),
                self.assertRaises(SystemExit) as end,
            ):
                train.main([f"--logdir={folder}/runs", *arguments])
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(end.exception.code, code)
        self.assertRegex(error.getvalue(), message)
        self.assertEqual(len(error.getvalue().splitlines()), 1, error.getvalue())

    def test_config(self):
        self.refuse("'pendulm' is unknown: did you mean pendulum", "--config=pendulm")
        self.refuse("--config is missing: known are .*pendulum")
        self.refuse("unrecognized arguments: --sed=3", "--config=pendulum", "--sed=3")

    def test_settings(self):
        for setting, message in (
            ("horizn=3", "'horizn' is unknown: did you mean horizon"),
            ("horizon=many", "horizon must be a whole number, but is 'many'"),
            ("discount=2", "discount must be at most 1"),
            ("horizon", "--set takes KEY=VALUE, but got 'horizon'"),
            ("backend=jx", "backend must be 'gymnasium' or .*'jax', but is 'jx'"),
            ("algorithm=pp", "'pp' is unknown: did you mean ppo"),
            ("learning_rate=.inf", "learning_rate must be finite"),
            ("horizon=1e20", "horizon must be at most"),
            ("steps=2024-13-45", "can't be read as YAML"),
            ("learning_rate=[1", "can't be read as YAML"),
            ("timeout=1e9", "timeout must be at most 86400"),
        ):
            self.refuse(message, "--config=pendulum", f"--set={setting}")

    def test_environments(self):
        for env, message in (
            ("Pendulm-v1", "'Pendulm-v1' is not registered: .*Pendulum"),
            ("Pendulum-v7", "'Pendulum-v7' is not registered: .*v1"),
            ("no_such_module:Env-v0", "no_such_module"),
            ("MiniGrid-Empty-8x8-v0", "needs the package minigrid.*pip install"),
            ("Blackjack-v1", "no limit.*max_length"),
            (":x", "does not name a module"),
            ("tests.environments:nope", "tests.environments has no 'nope'"),
            ("tests.scripts.raises_at_import:x", "ZeroDivisionError"),
        ):
            self.refuse(message, "--config=pendulum", f"--set=env={env}")

    def test_networks_and_spaces(self):
        self.refuse(
            "'feed_foward' is unknown: did you mean feed_forward",
            "--config=pendulum",
            "--set=network=feed_foward",
        )
        self.refuse("has no image", "--config=pendulum", "--set=network=convolutional")
        self.refuse(
            "horizon must be a multiple of chunk_length",
            "--config=pendulum",
            "--set=network=recurrent",
            "--set=horizon=50",
        )

    def test_an_unsupported_space_is_named(self):
        for env, message in (
            ("observes_text", "space Text.* is not supported: use Box"),
            ("observes_nothing", "has nothing to observe"),
            ("acts_by_a_dictionary", "action space Dict.* is not supported: use Box"),
            ("acts_by_whole_numbers", "is not supported: use a Box of floats"),
        ):
            self.refuse(
                message,
                "--config=pendulum",
                f"--set=env=tests.scripts.train_test:{env}",
                "--set=max_length=5",
            )

    def test_backends(self):
        arguments = ["--config=pendulum", "--backend=tensorflow"]
        self.refuse("no env 'Hopper-v5': known are", *arguments, "--set=env=Hopper-v5")
        self.refuse("did you mean Pendulum", *arguments, "--set=env=Pendulum-v0")
        self.refuse("has no worker processes", *arguments, "--noenv_processes")

    def test_timestamps(self):
        self.refuse("no run '20260101T000000'", "--timestamp=20260101T000000")


def with_spaces(observation_space=None, action_space=None, **kwargs):
    """Make an environment with a space of choice."""
    env = environments.Tiny(**kwargs)
    env.observation_space = observation_space or env.observation_space
    env.action_space = action_space or env.action_space
    return env


observes_text = functools.partial(with_spaces, spaces.Text(5))
observes_nothing = functools.partial(with_spaces, spaces.Box(0, 1, (0,)))
acts_by_a_dictionary = functools.partial(
    with_spaces, None, spaces.Dict({"a": spaces.Discrete(2)})
)
acts_by_whole_numbers = functools.partial(
    with_spaces, None, spaces.Box(0, 3, (2,), np.int64)
)


if __name__ == "__main__":
    unittest.main()
