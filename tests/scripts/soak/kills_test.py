"""Runs that are killed and resumed end like one that never was."""

import pathlib
import random
import tempfile
import unittest

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
        """Kill a run once, after most of what it took to start, and resume it."""
        with tempfile.TemporaryDirectory() as folder:
            runs = Kills(backend, pathlib.Path(folder, "runs"), SMALL[backend])
            trial = runs.trial(random.Random(backend), kills=1, earliest=0.6)
        self.assertEqual(trial.differences, [], trial)

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
            other = Kills("tensorflow", path.with_name("other"), {"seed": 1})
        self.assertNotEqual(runs.expected, other.expected)


if __name__ == "__main__":
    unittest.main()
