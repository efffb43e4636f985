"""Runs of untrained policies, saved without training."""

import json
import pathlib
import tempfile
import unittest

import numpy as np

from agents.parts.settings import SettingError
from agents.scripts import config_file, configs, environments, restored, training
from agents.tools import run_directory
from agents.tools.checkpoints import Checkpoints

ENV = "tests.environments:Counter"


def settings(env=ENV, **changes):
    """Return a config of small networks and two environments in this process."""
    changes = {"num_agents": 2, "workers": 0, "max_length": 5} | changes
    layers = {"policy_layers": (4,), "value_layers": (4,)}
    if changes.get("backend", "gymnasium") != "gymnasium":
        del changes["workers"]
    env = config_file.resolve("env", env)
    return configs.pendulum().replace(env=env, **layers, **changes)


def save_run(logdir, config, steps=(0,), scores=()):
    """Save a run whose checkpoints are of different policies.

    Args:
        logdir: folder of runs.
        config: of the run.
        steps: of the checkpoints, each with a seed of its own.
        scores: of evaluations at those steps.
    """
    run = run_directory.new_run(logdir, "test")
    run.create()
    config_file.write(config, run.config)
    with environments.started(config) as started:
        env = started.evaluation()
        for step in steps:
            algorithm = training.build_algorithm(config.replace(seed=step), env)
            checkpoints = Checkpoints(run.checkpoints, algorithm=algorithm)
            checkpoints.save(step)
            checkpoints.wait()
    lines = [
        json.dumps({"phase": "eval", "step": step, "mean_score": score}) + "\n"
        for step, score in zip(steps, scores, strict=False)
    ]
    run.metrics.write_text("".join(lines), encoding="utf-8")
    return run


class RestoredTest(unittest.TestCase):
    """Checkpoints of steps 1, 2 and 3, of which the second was best."""

    @classmethod
    def setUpClass(cls):
        logdir = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.config = settings()
        cls.run_directory = save_run(
            pathlib.Path(logdir), cls.config, (1, 2, 3), (5.0, 7.0, 6.0)
        )

    def weights(self, seed=None, best=False):
        """Return the weights of the restored policy, or those that a seed gives."""
        with environments.started(self.config) as started:
            env = started.evaluation()
            if seed is None:
                found = restored.policy(self.config, self.run_directory, env, best)
            else:
                found = training.build_algorithm(self.config.replace(seed=seed), env)
        return [variable.numpy() for variable in found.network.trainable_variables]

    def test_the_newest_policy_is_restored_or_the_best(self):
        for best, step in ((False, 3), (True, 2)):
            weights, expected = self.weights(best=best), self.weights(step)
            for mine, theirs in zip(weights, expected, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        self.assertFalse(np.array_equal(self.weights(2)[0], self.weights(3)[0]))

    def test_only_steps_with_a_checkpoint_are_best(self):
        with self.run_directory.metrics.open("a", encoding="utf-8") as file:
            file.write('{"phase": "eval", "step": 4, "mean_score": 9}\n')
        self.assertEqual(restored.best_step(self.run_directory), 2)

    def test_without_an_evaluation_none_is_best(self):
        with tempfile.TemporaryDirectory() as folder:
            run = run_directory.RunDirectory(pathlib.Path(folder) / "run")
            with self.assertRaisesRegex(
                SettingError, "no evaluation yet: leave --best"
            ):
                restored.best_step(run)

    def test_the_config_is_that_of_the_run_and_code_must_be_named_again(self):
        given = {"env": self.config.env}
        read = restored.read_config(self.run_directory, given)
        self.assertEqual(read, self.config)
        with self.assertRaisesRegex(SettingError, f"add --set=env={ENV} if you trust"):
            restored.read_config(self.run_directory, {})

    def test_other_settings_than_those_of_the_run_are_an_error(self):
        given = {"env": self.config.env}
        restored.read_config(self.run_directory, given | {"num_agents": 2})
        for name, value in (("num_agents", 3), ("discount", 0.5)):
            with self.assertRaisesRegex(SettingError, f"^{name} is that of the run: "):
                restored.read_config(self.run_directory, given | {name: value})
        with self.assertRaisesRegex(SettingError, "'discont' is unknown: did you mean"):
            restored.read_config(self.run_directory, given | {"discont": 0.5})


if __name__ == "__main__":
    unittest.main()
