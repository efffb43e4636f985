"""The code that the documentation shows."""

import pathlib
import re
import subprocess
import sys
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "architecture.md"


class ArchitectureTest(unittest.TestCase):
    """docs/architecture.md."""

    def test_its_code_runs_as_it_stands(self):
        (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^-?\d+\.\d+")

    def test_the_files_that_it_names_exist(self):
        package = PAGE.parents[1] / "agents"
        names = re.findall(
            r"`((?:tools|parts|algorithms|scripts)/[\w/]+\.py)`", PAGE.read_text()
        )
        self.assertGreater(len(names), 5)
        for name in names:
            self.assertTrue((package / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
