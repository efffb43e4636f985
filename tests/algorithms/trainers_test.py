"""Algorithms by name."""

import subprocess
import sys
import unittest

from agents.algorithms import trainers
from agents.algorithms.algorithm import Algorithm
from agents.parts.settings import SettingError


class TrainersTest(unittest.TestCase):
    """The ones that are built in."""

    def test_each_has_an_algorithm_and_settings(self):
        for name in trainers.TRAINERS:
            trainer = trainers.find(name)
            self.assertTrue(issubclass(trainer.algorithm(), Algorithm))
            self.assertGreater(trainer.settings().horizon, 0)

    def test_an_unknown_one_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "'pp' is unknown: did you mean ppo"):
            trainers.find("pp")


class ImportTest(unittest.TestCase):
    """What must be free of TensorFlow."""

    def test_workers_configs_and_the_command_line(self):
        modules = "agents.tools.wrappers.worker, agents.scripts.configs"
        modules += ", agents.scripts.train, agents.scripts.visualize"
        code = f"import sys, {modules}; sys.exit('tensorflow' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
