"""Settings of PPO."""

import dataclasses
import unittest

from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.settings import SettingError


class PPOSettingsTest(unittest.TestCase):
    """Fields and their dependence."""

    def test_every_field_is_documented(self):
        for field in dataclasses.fields(PPOSettings):
            self.assertTrue(field.metadata["text"], field.name)

    def test_something_must_limit_an_update(self):
        with self.assertRaisesRegex(SettingError, "clip_range and kl_target"):
            PPOSettings(clip_range=None)
        PPOSettings(clip_range=None, kl_target=0.01)

    def test_is_frozen(self):
        with self.assertRaises(dataclasses.FrozenInstanceError):
            PPOSettings().horizon = 3  # type: ignore[misc]


if __name__ == "__main__":
    unittest.main()
