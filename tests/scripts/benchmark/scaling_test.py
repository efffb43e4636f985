"""The same work for any number of environments."""

import unittest

from agents.parts.settings import SettingError
from scripts.benchmark import scaling


class ScalingTest(unittest.TestCase):
    """From the command line to the table."""

    def test_transitions_and_minibatch_stay_the_same(self):
        works = scaling.works_of(scaling.parse([]))
        self.assertEqual(list(works), [1, 4, 16, 64, 256, 1024, 4096])
        self.assertEqual({w.steps_per_iteration for w in works.values()}, {32_768})
        self.assertEqual({work.minibatch for work in works.values()}, {512})

    def test_transitions_that_can_not_be_divided(self):
        with self.assertRaisesRegex(SettingError, "no multiple of 3"):
            scaling.works_of(scaling.parse(["--num_envs", "3", "--transitions=64"]))

    def test_ratios_against_the_first(self):
        works = scaling.works_of(scaling.parse(["--num_envs", "1", "4"]))
        table = scaling.table(works, {"1": [100.0], "4": [250.0]}, "title")
        rows = list(zip(*(column.cells for column in table.columns), strict=True))
        self.assertEqual(rows[1], ("4", "8,192", "250", "250", "250", "0%", "2.5x"))


if __name__ == "__main__":
    unittest.main()
