"""The command `python -m agents.scripts.record`, as a person uses it."""

import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import gymnasium
import minari
import numpy as np
import tensorflow as tf

from agents.algorithms.demonstrations import Demonstrations
from agents.algorithms.experience import row_specs
from agents.scripts import environments, record, restored
from tests.scripts.restored_test import save_run, settings
from tests.tools.recording_test import Echo

ENV = "tests.scripts.record_test:Pictures"
NAME = "tests/best-v0"


class Pictures(Echo):
    """Shows a picture of noise as well, of four channels; ends after three steps."""

    observation_space = gymnasium.spaces.Dict(
        {
            "picture": gymnasium.spaces.Box(0, 255, (32, 32, 4), np.uint8),
            **Echo.observation_space,
        }
    )

    def __init__(self):
        super().__init__(3)

    def observe(self):
        """Return the observation of the current state."""
        return {"picture": picture(self.count), **super().observe()}


def picture(step):
    """Return the picture of a step."""
    return np.random.default_rng(step).integers(0, 256, (32, 32, 4), np.uint8)


class RecordCase(unittest.TestCase):
    """Data sets go to a folder of their own."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.logdir = pathlib.Path(folder) / "runs"
        self.datasets = pathlib.Path(folder) / "data sets"
        variable = {"MINARI_DATASETS_PATH": str(self.datasets)}
        self.enterContext(mock.patch.dict(os.environ, variable))

    def save(self, env="Pendulum-v1", **changes):
        """Save a run with one policy."""
        return save_run(self.logdir, settings(env, **changes))

    def record(self, *arguments, name=NAME):
        """Record in this process; return what was printed."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            record.main([f"--logdir={self.logdir}", f"--dataset={name}", *arguments])
        return printed.getvalue()

    def refuse(self, message, *arguments, name=NAME, code=2):
        """Expect an error of one line that matches a message, and no data set."""
        error = io.StringIO()
        before = sorted(self.datasets.rglob("*"))
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit) as end:
            self.record(*arguments, name=name)
        self.assertEqual(end.exception.code, code, error.getvalue())
        self.assertRegex(error.getvalue(), message)
        if code == 2:
            self.assertEqual(len(error.getvalue().splitlines()), 1, error.getvalue())
        self.assertEqual(sorted(self.datasets.rglob("*")), before)


class RecordTest(RecordCase):
    """What a data set holds."""

    def test_it_holds_what_the_environment_did_and_can_be_given_as_demonstrations(self):
        run = self.save(ENV)
        printed = self.record("--episodes=3", f"--set=env={ENV}")
        self.assertRegex(
            printed, rf"^Recorded {NAME}: 4 episodes, 12 transitions, score .* \+- "
        )
        data = minari.load_dataset(NAME)
        spaces = Pictures.observation_space, Pictures().action_space
        self.assertEqual((data.observation_space, data.action_space), spaces)
        self.assertEqual(data.total_episodes, 4)
        expected = self.best_actions(run)
        for episode in data.iterate_episodes():
            for step, image in enumerate(episode.observations["picture"]):
                np.testing.assert_array_equal(image, picture(step))
            self.assertEqual(episode.observations["step"].tolist(), [0, 1, 2, 3])
            actions = episode.actions[:, 0].tolist()
            np.testing.assert_allclose(actions, expected, rtol=1e-4)
            self.assertEqual(
                episode.observations["action"][:, 0].tolist(), [0, *actions]
            )
            self.assertEqual(episode.rewards.tolist(), actions)
            self.assertEqual(episode.terminations.tolist(), [False, False, True])
            self.assertEqual(episode.truncations.tolist(), [False] * 3)
        specs = row_specs(*spaces)
        batch = Demonstrations(NAME, *spaces).memory(specs).sample([1, 2], 100, 0.5)
        steps = batch.observation["step"].numpy()
        self.assertEqual(set(steps), {0, 1, 2})
        np.testing.assert_array_equal(batch.next_observation["step"], steps + 1)
        np.testing.assert_array_equal(
            batch.next_observation["action"], batch.action.numpy()
        )
        np.testing.assert_array_equal(batch.discount, np.where(steps == 2, 0, 0.5))
        for step, image in zip(steps, batch.observation["picture"], strict=True):
            np.testing.assert_array_equal(image, picture(step))

    def best_actions(self, run):
        """Return the actions of an episode by the policy of the run."""
        env, actions = Pictures(), []
        config = settings(ENV)
        with environments.started(config) as started:
            policy = restored.policy(config, run, started.evaluation(), False)
        observation, _ = env.reset()
        for _ in range(3):
            batch = tf.nest.map_structure(
                lambda leaf: tf.constant(leaf)[None], observation
            )
            action = policy.perform(batch, (), tf.constant([1, 2]), False).action[0]
            observation, *_ = env.step(action.numpy())
            actions.append(float(action[0]))
        return actions

    def test_the_command_prints_one_line_and_seeds_give_other_episodes(self):
        self.save("tests.environments:Draws")
        command = [sys.executable, "-m", "agents.scripts.record", "--episodes=2"]
        command += [f"--logdir={self.logdir}", f"--dataset={NAME}"]
        command += ["--set=env=tests.environments:Draws"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(
            done.stdout,
            f"Recorded {NAME}: 2 episodes, 6 transitions, score 3.0 +- 0.0.\n",
        )
        first = [minari.load_dataset(NAME)[0]]
        for number, seed in enumerate((0, 1)):
            name = f"tests/other-v{number}"
            self.record(*command[3:4], command[-1], f"--seed={seed}", name=name)
            first.append(minari.load_dataset(name)[0])
        zero, again, one = (episode.observations for episode in first)
        np.testing.assert_array_equal(zero, again)
        self.assertFalse((zero == one).any())

    def test_it_names_the_environment_if_gymnasium_can_make_it(self):
        self.save(backend="tensorflow", max_length=3)
        self.record("--episodes=1")
        spec = minari.load_dataset(NAME).env_spec
        self.assertEqual((spec.id, spec.max_episode_steps), ("Pendulum-v1", 3))

    def test_it_names_none_that_can_not_be_written_down(self):
        """The module of the environment has registered a class."""
        env = "tests.environments:tests/Counter-v0"
        self.save(env)
        self.record("--episodes=1", f"--set=env={env}")
        self.assertIsNone(minari.load_dataset(NAME).env_spec)


class ErrorTest(RecordCase):
    """One sentence, an exit code, and nothing left behind."""

    def test_a_data_set_that_exists_already_before_anything_is_played(self):
        self.save()
        self.record("--episodes=1")
        with mock.patch.object(environments, "started") as started:
            self.refuse(
                f"--dataset={NAME} exists already in .*data sets/{NAME}: choose "
                "another name or version, or remove it.$"
            )
        started.assert_not_called()
        data = minari.load_dataset(NAME)
        self.assertEqual(data.total_steps, 10)

    def test_a_name_that_is_none(self):
        self.save()
        for name in ("best", "a b-v0", "../best-v0", "/best-v0", "x/best-v0", "best-v"):
            self.refuse(
                f"--dataset={name} is no id of a data set: choose one like", name=name
            )

    def test_no_checkpoint(self):
        self.refuse("There is no run with a checkpoint under .*runs.$")
        run = self.save()
        run.checkpoints.rename(self.logdir / "elsewhere")
        self.refuse("There is no run with a checkpoint under .*runs.$")
        self.refuse(
            "The run .*-test has no checkpoint or no config.yaml, so that it can't be "
            "used: start it anew.$",
            f"--logdir={run.path}",
        )

    def test_no_evaluation(self):
        self.save()
        self.refuse("has no evaluation yet: leave --best out.$", "--best")

    def test_a_damaged_checkpoint(self):
        run = self.save()
        (run.checkpoints / "step-0" / "sha256").unlink()
        self.refuse("All checkpoints in .* are damaged: start the run anew.$", code=1)

    def test_minari_is_missing(self):
        with mock.patch.object(importlib.util, "find_spec", return_value=None):
            self.refuse(
                r"^Recording needs the package minari: pip install -e '.\[minari\]'.$"
            )

    def test_an_unknown_backend(self):
        run = self.save()
        known = "backend must be 'gymnasium' or .*'jax', but is 'jx'.$"
        self.refuse(f"^{known}", "--set=backend=jx")
        text = run.config.read_text(encoding="utf-8")
        changed = text.replace("backend: gymnasium", "backend: jx")
        run.config.write_text(changed, encoding="utf-8")
        self.refuse(rf"config.yaml, line \d+: {known}")

    def test_settings_that_are_not_those_of_the_run(self):
        self.save()
        self.refuse(
            "max_length is that of the run: leave it out.", "--set=max_length=9"
        )

    def test_an_environment_that_fails(self):
        env = "tests.environments:Crash"
        self.save(env)
        self.refuse(
            "Environment 0 raised: ValueError: crash in step 2",
            f"--set=env={env}",
            code=1,
        )

    def test_arguments(self):
        for arguments, message in (
            (["--episodes=0"], "'0' is no whole number above 0"),
            (["--seed=-1"], "'-1' is no whole number"),
            (["--sed=1"], "unrecognized arguments: --sed=1"),
        ):
            self.refuse(f"^record: .*{message}.* See --help.$", *arguments)


if __name__ == "__main__":
    unittest.main()
