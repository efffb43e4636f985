"""The code that docs/networks.md shows."""

import pathlib
import re
import unittest

import gymnasium
import tensorflow as tf

from agents.algorithms.ppo.settings import PPOSettings
from agents.scripts import training

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "networks.md"


class NetworksTest(unittest.TestCase):
    """Names, settings and code."""

    def test_the_model_of_ones_own_is_a_network(self):
        *_, code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        module = {}
        exec(code, module)  # pylint: disable=exec-used
        network = training.find_network(module["wide"])(
            PPOSettings(),
            gymnasium.spaces.Box(-1, 1, (5,)),
            gymnasium.spaces.Discrete(3),
            0,
        )
        policy, value, _ = network(tf.zeros([7, 5]), ())
        self.assertEqual((policy.logits.shape, value.shape), ([7, 1, 3], [7]))

    def test_all_networks_and_only_settings_that_exist_are_named(self):
        rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE)
        names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        networks = [name for name in names if not hasattr(PPOSettings, name)]
        for name in networks:
            training.find_network(name)
        self.assertEqual(len(networks), 4)
        self.assertGreater(len(names), 10)


if __name__ == "__main__":
    unittest.main()
