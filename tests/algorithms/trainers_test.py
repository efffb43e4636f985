"""Algorithms by name, of this package and of others."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from agents.algorithms import trainers
from agents.algorithms.algorithm import Algorithm
from agents.parts.settings import SettingError
from tests import plugins

_IMPORTS = (
    "from agents.algorithms.settings import LearnerSettings as Settings\n"
    "algorithm = 'agents.algorithms.ppo.ppo:PPO'\n"
)


class TrainersTest(unittest.TestCase):
    """The ones that are installed."""

    def test_each_has_an_algorithm_and_settings(self):
        self.assertEqual(trainers.known()["ppo"], ["batch-ppo"])
        for name in trainers.known():
            trainer = trainers.find(name)
            self.assertTrue(issubclass(trainer.algorithm(), Algorithm))
            self.assertGreater(trainer.settings().horizon, 0)

    def test_an_unknown_one_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "'pp' is unknown: did you mean ppo"):
            trainers.find("pp")


class PluginsTest(unittest.TestCase):
    """Packages in a temporary folder."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)

    def install(self, code, name="new", package="new-package"):
        """Install a package with one trainer."""
        group = trainers.GROUP
        plugins.install(self.folder, package, code, group, f"{name} = trainers")

    def find(self, name="new", then=""):
        """Return what finding a trainer raises, or else prints."""
        code = (
            "from agents.algorithms import trainers\n"
            "from agents.parts.settings import SettingError\n"
            f"try: found = trainers.find({name!r}); print(found{then})\n"
            "except SettingError as error: print(error)"
        )
        done = plugins.run(self.folder, "-c", code)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout.strip()

    def test_one_is_found(self):
        self.install(
            f"{_IMPORTS}def trainers():\n"
            "    return {'new': algorithm}, {'new': Settings}"
        )
        self.assertIn("package='new-package'", self.find())
        self.assertIn("ppo.PPO", self.find(then=".algorithm()"))

    def test_a_syntax_error_is_named_and_disturbs_nobody(self):
        self.install("def trainers(: pass")
        self.assertEqual(
            self.find(),
            "There is no trainer new. The plugin new of the package new-package "
            "(new_package:trainers) failed to load: SyntaxError: invalid syntax "
            "(new_package.py, line 1).",
        )
        self.assertIn("package='batch-ppo'", self.find("ppo"))

    def test_a_function_that_raises_is_named(self):
        self.install("def trainers(): raise OSError('no licence')")
        self.assertIn("failed to load: OSError: no licence.", self.find())

    def test_an_exit_is_a_fault_as_well(self):
        self.install("raise SystemExit(0)")
        self.assertIn("failed to load: SystemExit: 0.", self.find())

    def test_wrong_types_are_named(self):
        for returned, message in (
            ("None", "must return two dictionaries, of algorithms and of settings"),
            ("[{}, 3]", "must return two dictionaries"),
            (
                "{'new': algorithm}, {}",
                "must have the same names, but have ['new'] and",
            ),
            ("{'new': 3}, {'new': Settings}", "must be a class or its path module:cl"),
            (
                "{'new': algorithm}, {'new': dict}",
                "the settings of new must be a datac",
            ),
            ("{3: algorithm}, {3: Settings}", "names of trainers must be texts"),
        ):
            with self.subTest(returned):
                self.setUp()
                self.install(f"{_IMPORTS}def trainers(): return {returned}")
                self.assertIn(message, self.find())

    def test_a_path_that_leads_nowhere_or_to_no_algorithm(self):
        for path, message in (
            ("nowhere:PPO", "has no algorithm nowhere:PPO: ModuleNotFoundError"),
            ("math:pi", "registers 3.14"),
        ):
            with self.subTest(path):
                self.setUp()
                code = f"{{'new': {path!r}}}, {{'new': Settings}}"
                self.install(f"{_IMPORTS}def trainers(): return {code}")
                self.assertIn(message, self.find(then=".algorithm()"))

    def test_a_name_that_is_taken_names_both_packages(self):
        code = "return {'ppo': algorithm}, {'ppo': Settings}"
        self.install(f"{_IMPORTS}def trainers(): {code}", name="shadow")
        self.assertEqual(
            self.find("ppo"),
            "The trainer ppo is brought by batch-ppo and new-package: uninstall one of "
            "them, or rename its trainer.",
        )


class ImportTest(unittest.TestCase):
    """What must be free of TensorFlow."""

    def test_workers_configs_and_the_command_line(self):
        modules = "agents.tools.wrappers.worker, agents.scripts.configs"
        modules += ", agents.scripts.train, agents.scripts.visualize"
        code = f"import sys, {modules}; sys.exit('tensorflow' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
