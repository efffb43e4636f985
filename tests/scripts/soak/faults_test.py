"""Each fault that a run must survive or name."""

import pathlib
import tempfile
import unittest

from scripts.soak import faults
from scripts.soak.fault_table import FAULTS
from scripts.soak.processes import Outcome


class FaultsTest(unittest.TestCase):
    """Each happens once; together they are the table in docs/faults.md."""

    def check(self, fault):
        """Let it happen."""
        with tempfile.TemporaryDirectory() as folder:
            outcome = faults.run(fault, pathlib.Path(folder))
        self.assertEqual(faults.complaints(fault, outcome), [], outcome.output)


def _add(number, fault):
    name = "".join(c if c.isalnum() else "_" for c in fault.name)

    def test(self):
        self.check(fault)

    setattr(FaultsTest, f"test_{number:02}_{name.strip('_')}", test)


for _number, _fault in enumerate(FAULTS):
    _add(_number, _fault)


class ComplaintsTest(unittest.TestCase):
    """What would make a fault fail its test."""

    def complain(self, **changes):
        """Return what is found wrong with an outcome."""
        fault = faults.Fault("x", r"^It failed", within=5, tracebacks=0)
        good = Outcome(1, "Begins.\nIt failed.\n", 3.0, None, [])
        return " ".join(faults.complaints(fault, good._replace(**changes)))

    def test_names_all_that_is_wrong(self):
        self.assertEqual(self.complain(), "")
        self.assertIn("exit code 0, not 1", self.complain(code=0))
        self.assertIn("no line matches", self.complain(output="All is well.\n"))
        self.assertIn("took 6.0 s, not 5", self.complain(seconds=6.0))
        self.assertEqual(self.complain(seconds=6.0, since_disturbed=2.0), "")
        self.assertIn("left the processes [7]", self.complain(left=[7]))
        text = "Traceback (most recent call last):\nIt failed.\n"
        self.assertIn("1 tracebacks", self.complain(output=text))

    def test_a_row_shows_what_was_said(self):
        fault = faults.Fault("a fault", r"^It failed")
        outcome = Outcome(1, "It failed in /tmp/x/runs/1.\n", 3.0, 1.25, [])
        self.assertEqual(
            faults.row(fault, outcome),
            "| a fault | It failed in runs/1. | 1 | 1.2 | nothing |",
        )


if __name__ == "__main__":
    unittest.main()
