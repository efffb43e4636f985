"""Every preset is a config that works."""

import dataclasses
import inspect
import unittest
from unittest import mock

from agents.algorithms import trainers
from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.settings import SettingError, setting
from agents.scripts import configs, environments
from agents.scripts.config import Config


def presets():
    """Return the configs by name."""
    return {
        name: function()
        for name, function in inspect.getmembers(configs, inspect.isfunction)
        if not name.startswith("_")
    }


@dataclasses.dataclass(frozen=True)
class OtherSettings:
    """Of a trainer that is not PPO."""

    horizon: int = setting(8, "steps of each environment between two updates", low=1)
    depth: int = setting(1, "of something", low=1)


class PresetsTest(unittest.TestCase):
    """All functions of configs.py."""

    def test_the_names_that_people_know_are_there(self):
        expected = {"default", "pendulum", "cartpole", "reacher", "cheetah", "walker"}
        expected |= {"hopper", "ant", "humanoid", "bullet_ant", "swimmer", "pusher"}
        expected |= {"inverted_pendulum", "inverted_double_pendulum"}
        expected |= {"pong", "breakout", "minatar_breakout"}
        self.assertEqual(set(presets()), expected)

    def test_their_environments_exist(self):
        for name, config in presets().items():
            with self.subTest(name):
                environments.check(config)

    def test_each_has_a_documentation(self):
        for name in presets():
            self.assertTrue(getattr(configs, name).__doc__)


class ConfigTest(unittest.TestCase):
    """Fields, replacement, differences."""

    def test_every_field_is_documented(self):
        for field in dataclasses.fields(Config):
            self.assertTrue(field.metadata["text"], field.name)

    def test_settings_of_the_algorithm_are_reached_by_their_name(self):
        config = Config().replace(horizon=32, env="CartPole-v1")
        self.assertEqual(config.hyperparameters.horizon, 32)
        self.assertEqual(config.env, "CartPole-v1")

    def test_no_name_stands_for_two_settings(self):
        outer, inner = (
            {field.name for field in dataclasses.fields(kind)}
            for kind in (Config, PPOSettings)
        )
        self.assertEqual(outer & inner, set())

    def test_names_of_the_predecessor_still_work(self):
        Config().replace(
            env="Pendulum-v1",
            max_length=200,
            steps=1e6,
            num_agents=30,
            eval_episodes=30,
            network="feed_forward",
            policy_layers=(200, 100),
            value_layers=(200, 100),
            init_output_factor=0.1,
            init_std=0.35,
            normalize_ranges=True,
            update_epochs=25,
            learning_rate=1e-4,
            discount=0.995,
            chunk_length=50,
            kl_target=1e-2,
            kl_cutoff_factor=2,
            kl_cutoff_coef=1000,
            kl_init_penalty=1,
        )

    def test_an_unknown_name_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "'horizont' .*horizon"):
            Config().replace(horizont=3)

    def test_an_unknown_algorithm_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "'pppo' is unknown: .*ppo"):
            Config(algorithm="pppo")

    def test_settings_of_another_algorithm_are_an_error(self):
        with self.assertRaisesRegex(SettingError, "PPOSettings"):
            Config(hyperparameters={"horizon": 3})

    def test_another_algorithm_begins_with_its_own_defaults(self):
        other = trainers.Trainer("a.module:Class", OtherSettings, "a-package")
        known = {"ppo": trainers.find("ppo"), "other": other}
        config = Config().replace(horizon=32)
        with mock.patch.object(trainers, "find", known.__getitem__):
            changed = config.replace(algorithm="other", depth=3)
            self.assertEqual(changed.hyperparameters, OtherSettings(depth=3))
            back = changed.replace(algorithm="ppo")
        self.assertEqual(back.hyperparameters, PPOSettings())

    def test_settings_of_a_trainer_must_have_a_horizon(self):
        settings = dataclasses.make_dataclass("Bare", [], frozen=True)
        other = trainers.Trainer("a.module:Class", settings, "a-package")
        with mock.patch.object(trainers, "find", lambda name: other):
            with self.assertRaisesRegex(
                SettingError, "trainer other can't be used: Bare lacks horizon, the st"
            ):
                Config(algorithm="other")

    def test_differences_are_named(self):
        changed = Config().replace(steps=5, horizon=7)
        self.assertEqual(changed.differences(Config()), ["steps", "horizon"])
        self.assertEqual(Config().differences(Config()), [])


if __name__ == "__main__":
    unittest.main()
