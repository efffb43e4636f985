"""What `--config` may be: a name, a function of a package, a file."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from agents.parts.settings import SettingError
from agents.scripts import configs, presets
from agents.scripts.config import Config

TRAIN = [sys.executable, "-m", "agents.scripts.train"]


def short():
    """Short episodes; for the tests below."""
    return Config(max_length=5)


def no_config():
    """Return something else; for the tests below."""
    return {"env": "Pendulum-v1"}


def bad_setting():
    """Raise an error of a setting; for the tests below."""
    return Config(steps=-1)


def broken():
    """Raise another error; for the tests below."""
    return {}["missing"]


class FindTest(unittest.TestCase):
    """`presets.find`."""

    def refuse(self, text, message):
        """Expect an error."""
        with self.assertRaisesRegex(SettingError, message):
            presets.find(text, {})

    def test_a_name_is_a_function_of_configs(self):
        self.assertEqual(presets.find("walker", {}), configs.walker())

    def test_what_the_command_line_gives_takes_the_place_of_its_settings(self):
        found = presets.find("walker", {"steps": 5, "discount": 0.5})
        self.assertEqual(found, configs.walker().replace(steps=5, discount=0.5))

    def test_a_path_is_a_function_of_any_module(self):
        found = presets.find("tests.scripts.presets_test:short", {"steps": 5})
        self.assertEqual(found, Config(max_length=5, steps=5))

    def test_a_file_leaves_out_what_has_a_default(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.yaml"
            path.write_text("env: CartPole-v1\nhyperparameters:\n  horizon: 7\n")
            expected = Config(env="CartPole-v1").replace(horizon=7)
            self.assertEqual(presets.find(str(path), {}), expected)
            self.assertEqual(presets.name_of(str(path)), "mine")

    def test_a_run_is_named_after_function_or_file(self):
        self.assertEqual(presets.name_of("walker"), "walker")
        self.assertEqual(presets.name_of("package.module:function"), "function")
        self.assertEqual(presets.name_of("some/where/mine.yml"), "mine")

    def test_an_unknown_name_is_an_error_with_the_nearest_or_with_all(self):
        self.refuse("penduum", "'penduum' is unknown: did you mean .*pendulum")
        self.refuse("zzz", "known are ant, breakout, .*; or give a file .yaml, or pack")
        self.refuse(None, "--config is missing: known are ant, breakout")

    def test_a_function_that_fails_is_an_error_with_its_own(self):
        here = "tests.scripts.presets_test"
        self.refuse(f"{here}:missing", "can't be called: AttributeError: .*'missing'")
        self.refuse("nowhere:walker", "ModuleNotFoundError: No module named 'nowhere'")
        self.refuse(f"{here}:broken", "broken can't be called: KeyError: 'missing'")
        self.refuse(f"{here}:bad_setting", "^steps must be at least 1, but is -1")
        self.refuse(f"{here}:no_config", "returned .*, which is no Config")
        self.refuse("tests.scripts.raises_at_import:x", "ZeroDivisionError")

    def test_a_file_that_is_missing_is_an_error_with_its_path(self):
        self.refuse("nowhere/mine.yaml", "nowhere/mine.yaml .*No such file")


class CommandTest(unittest.TestCase):
    """`--list` and `--print`."""

    def call(self, *arguments):
        """Return what the command prints."""
        command = [*TRAIN, *arguments]
        return subprocess.run(command, stdout=-1, text=True, check=True).stdout

    def test_list_shows_configs_trainers_backends_and_writers(self):
        printed = self.call("--list")
        for name in presets.names():
            self.assertRegex(printed, rf"\n  {name} +[A-Z].*\.\n")
        self.assertRegex(printed, r"\n  ppo +batch-ppo\n")
        for backend in ("gymnasium", "tensorflow", "envpool", "jax"):
            self.assertIn(f"\n  {backend}\n", printed)
        self.assertRegex(printed, r"\nStats writers:\n  agents +batch-ppo\n")

    def test_what_print_prints_is_a_config_file_of_the_same_config(self):
        printed = self.call("--config=humanoid", "--seed=3", "--print")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "humanoid.yaml"
            path.write_text(printed)
            found = presets.find(str(path), {})
        self.assertEqual(found, configs.humanoid().replace(seed=3))


if __name__ == "__main__":
    unittest.main()
