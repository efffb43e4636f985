"""Runs that are killed and resumed end like one that never was."""

import pathlib
import random
import tempfile
import unittest
from unittest import mock

from scripts.soak.kills import Kills

SMALL = {
    "gymnasium": {"steps": 4096, "checkpoint_steps": 512, "eval_every": 2048},
    "tensorflow": {"steps": 65536, "checkpoint_steps": 8192, "eval_every": 32768},
    "jax": {"steps": 65536, "checkpoint_steps": 8192, "eval_every": 32768},
    "envpool": {"steps": 16384, "checkpoint_steps": 2048, "eval_every": 8192},
}


class KillsTest(unittest.TestCase):
    """One trial of each backend; `python -m scripts.soak kills` makes more."""

    def check(self, backend):
        """Kill a run once, while it trains, and resume it."""
        with tempfile.TemporaryDirectory() as folder:
            runs = Kills(backend, pathlib.Path(folder, "runs"), SMALL[backend])
            chance = random.Random(0)
            with mock.patch.object(chance, "uniform", lambda *_: 0.5):
                trial = runs.trial(chance, kills=1)
        self.assertEqual(trial.differences, [], trial)
        self.assertGreater(trial.resumed_at[0], 0)

    def test_gymnasium(self):
        self.check("gymnasium")

    def test_tensorflow(self):
        self.check("tensorflow")

    def test_jax(self):
        self.check("jax")

    def test_envpool(self):
        self.check("envpool")

    def test_a_difference_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "runs")
            runs = Kills("tensorflow", path, SMALL["tensorflow"])
            settings = {**SMALL["tensorflow"], "seed": 1}
            other = Kills("tensorflow", path.with_name("other"), settings)
        self.assertNotEqual(runs.expected, other.expected)


if __name__ == "__main__":
    unittest.main()
