"""Configs as YAML."""

import pathlib
import tempfile
import unittest

from agents.parts.settings import SettingError
from agents.scripts import config_file, configs
from tests import environments


class ConfigFileTest(unittest.TestCase):
    """In a temporary folder."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder) / "config.yaml"

    def refuse(self, message, text):
        """Expect an error about a text."""
        self.path.write_text(text, encoding="utf-8")
        with self.assertRaisesRegex(SettingError, message) as raised:
            config_file.read(self.path, {})
        self.assertIn(str(self.path), str(raised.exception))

    def test_a_config_comes_back_as_it_was(self):
        config = configs.humanoid().replace(kl_target=0.01, policy_layers=(3, 4))
        config_file.write(config, self.path)
        self.assertEqual(config_file.read(self.path, {}), config)

    def test_has_trainer_type_and_hyperparameters(self):
        config_file.write(configs.pendulum(), self.path)
        lines = self.path.read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0], "trainer_type: ppo")
        self.assertIn("env: Pendulum-v1", lines)
        self.assertIn("hyperparameters:", lines)
        self.assertIn("  horizon: 128", lines)

    def test_what_is_broken_is_an_error_that_names_the_file(self):
        self.refuse("no config", "[1, 2]")
        self.refuse("no config", "null")
        self.refuse("no YAML", "a: [1")
        head = "trainer_type: ppo\nhyperparameters: {}\n"
        self.refuse("'envv' is unknown: did you mean env", f"{head}envv: 3")
        self.refuse(
            "'horizn' .*horizon", "trainer_type: ppo\nhyperparameters: {horizn: 3}"
        )
        self.refuse("steps must be a whole number", f"{head}steps: many")

    def test_an_error_names_line_trainer_and_the_nearest(self):
        head = "trainer_type: ppo\nenv: Pendulum-v1\nhyperparameters:\n  horizon: 3\n"
        self.refuse(
            r"config.yaml, line 5: The hyperparameter 'discont' is unknown: did you "
            r"mean discount\? \(hyperparameters of the trainer ppo\)$",
            f"{head}  discont: 0.9\n",
        )
        self.refuse(
            r"line 5: discount must be a number, but is 'high'. \(hyperparameters of",
            f"{head}  discount: high\n",
        )
        self.refuse("line 5: discount must be at most 1", f"{head}  discount: 2\n")
        self.refuse("line 5: steps must be a whole number", f"{head}steps: 0.5\n")
        self.refuse(
            "line 1: The trainer 'pp' is unknown: did you mean ppo", "trainer_type: pp"
        )
        # One that stands in both places is looked for in its own.
        self.refuse("line 5: The setting 'horizon' is unknown", f"{head}horizon: 3\n")

    def test_a_key_that_stands_twice_is_an_error_with_its_line(self):
        self.refuse("line 2, is no YAML .*duplicate key", "env: a\nenv: b\n")

    def test_a_tag_executes_nothing(self):
        marker = self.path.with_name("executed")
        self.refuse(
            "no YAML",
            f"trainer_type: !!python/object/apply:pathlib.Path.touch [{marker}]\n",
        )
        self.assertFalse(marker.exists())

    def test_code_is_not_imported_on_the_word_of_a_file(self):
        text = "trainer_type: ppo\nhyperparameters: {}\n"
        self.refuse("--set=env=os:getcwd", f"{text}env: os:getcwd\n")
        self.refuse("--set=network=a:b", f"{text}network: a:b\n")

    def test_code_is_taken_where_the_command_line_names_it_too(self):
        name = "tests.environments:Counter"
        value = config_file.resolve("env", name)
        self.assertIs(value.function, environments.Counter)
        config = configs.default().replace(env=value, max_length=5)
        config_file.write(config, self.path)
        self.assertIn(f"env: {name}", self.path.read_text(encoding="utf-8"))
        self.assertEqual(config_file.read(self.path, {"env": value}), config)


class ParseValueTest(unittest.TestCase):
    """Values of --set."""

    def test_values_have_the_types_of_yaml(self):
        for text, value in (
            ("3", 3),
            ("1e-3", 1e-3),
            ("true", True),
            ("null", None),
            ("[64, 64]", [64, 64]),
            ("Pendulum-v1", "Pendulum-v1"),
        ):
            self.assertEqual(config_file.parse_value(text), value)

    def test_what_is_no_yaml_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "YAML"):
            config_file.parse_value("[1")

    def test_ids_of_gymnasium_with_a_module_stay_ids(self):
        name = "tests.environments:tests/Counter-v0"
        self.assertEqual(config_file.resolve("env", name), name)

    def test_a_module_that_is_missing_is_an_error(self):
        with self.assertRaisesRegex(SettingError, "no_such_module"):
            config_file.resolve("env", "no_such_module:Thing")


if __name__ == "__main__":
    unittest.main()
