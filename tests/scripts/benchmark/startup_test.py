"""Seconds to the first evaluation, by phase."""

import time
import unittest

from scripts.benchmark import startup
from scripts.benchmark.startup_probe import Phases, compilation_seconds


class StartupTest(unittest.TestCase):
    """The arithmetic; no run."""

    def test_phases_add_up_to_all_time_since_the_start(self):
        began = time.monotonic() - 100
        phases = Phases(began)
        phases.end("import")
        phases.end("building")
        for seconds in (0.75, 0.25, 0.25):
            phases.add_call("iterate", seconds)
        split = phases.split()
        self.assertGreaterEqual(split["import"], 100)
        self.assertAlmostEqual(split["compiling"], 0.5)
        self.assertAlmostEqual(sum(split.values()), time.monotonic() - began, 1)

    def test_compilation_is_what_later_calls_do_not_need(self):
        self.assertAlmostEqual(compilation_seconds([5.0, 1.0, 2.0, 1.0]), 4)
        self.assertEqual(compilation_seconds([5.0]), 5)
        self.assertEqual(compilation_seconds([1.0, 2.0]), 0)

    def test_rows_of_the_table(self):
        values = {phase: [1.0, 3.0, 2.0] for phase in (*startup.PHASES, "total")}
        table = startup.table({"cold": values, "warm": values}, "title")
        rows = list(zip(*(column.cells for column in table.columns), strict=True))
        self.assertEqual(rows[0], ("import", *("2.00", "1.00", "3.00") * 2))
        self.assertEqual(rows[-1][0], "total")

    def test_options(self):
        options = startup.parse(["--set", "steps=10", "--set", "seed=1"])
        self.assertEqual(options.set, ["steps=10", "seed=1"])
        self.assertEqual((options.config, options.backend), ("pendulum", "tensorflow"))


if __name__ == "__main__":
    unittest.main()
