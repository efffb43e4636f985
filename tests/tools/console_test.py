"""Plain lines where there is no terminal."""

import contextlib
import io
import unittest

from agents.tools.console import Console

METRICS = {"episodes": 3, "mean_score": -12.34, "std_score": 5.0}


class ConsoleTest(unittest.TestCase):
    """Printed to a file."""

    def printed(self, **changes):
        """Return what is printed of a phase, with progress before it."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), Console(100) as console:
            console.advance(50, 1000.0, None)
            metrics = METRICS | {"steps_per_second": 2345.6} | changes
            console.phase("train", metrics, 50)
        return output.getvalue()

    def test_a_phase_is_a_line_and_progress_is_none(self):
        self.assertEqual(
            self.printed(),
            "train step         50  score -12.3 +- 5.0 over 3 episodes"
            "  (2,346 steps/s)\n",
        )

    def test_no_episode_is_said(self):
        printed = self.printed(mean_score=None)
        self.assertIn("no episode ended", printed)


if __name__ == "__main__":
    unittest.main()
