"""Long runs, in their short forms."""

import pathlib
import tempfile
import unittest

from scripts.soak import long


class LongTest(unittest.TestCase):
    """`python -m scripts.soak long` makes them as long as they are meant."""

    def check(self, name, message):
        """Run the short form."""
        with tempfile.TemporaryDirectory() as folder:
            self.assertRegex(long.run(name, pathlib.Path(folder), short=True), message)

    def test_episodes(self):
        self.check("episodes", "8,192 episodes in 8,192 steps, 2 checkpoints")

    def test_rotation(self):
        self.check("rotation", "20 checkpoints of which [34] are left")

    def test_workers(self):
        self.check("workers", r"[1-9]\d* restarts")

    def test_large(self):
        self.check("large", "in 512 steps")


if __name__ == "__main__":
    unittest.main()
