"""Trainings by two revisions."""

import json
import unittest

from agents.tools.faults import RunFault
from scripts.benchmark import revisions


class RateTest(unittest.TestCase):
    """Steps per second, from a metrics file."""

    def rate(self, *lines):
        """Return the rate of some lines (phase, step, seconds)."""
        keys = ("phase", "step", "wall_seconds")
        text = [json.dumps(dict(zip(keys, line, strict=True))) for line in lines]
        return revisions.rate_of("\n".join(text))

    def test_is_that_after_the_first_line_which_paid_for_the_compilation(self):
        rate = self.rate(
            ("train", 100, 10.0), ("eval", 100, 11.0), ("train", 300, 14.0)
        )
        self.assertEqual(rate, 50)

    def test_one_line_is_too_short(self):
        with self.assertRaisesRegex(RunFault, "two checkpoints"):
            self.rate(("train", 100, 10.0))

    def test_an_unknown_revision_is_named(self):
        with (
            self.assertRaisesRegex(RunFault, "no-such-revision"),
            revisions.worktree("no-such-revision"),
        ):
            self.fail()


if __name__ == "__main__":
    unittest.main()
