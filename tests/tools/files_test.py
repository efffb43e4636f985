"""Files that are replaced as a whole."""

import pathlib
import tempfile
import unittest
from unittest import mock

from agents.tools import files


class ReplaceTextTest(unittest.TestCase):
    """The old text or the new one, and nothing between."""

    def test_a_failure_leaves_the_old_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "config.yaml")
            files.replace_text(path, "one")
            files.replace_text(path, "two")
            self.assertEqual(path.read_text("utf-8"), "two")
            failing = mock.patch("os.fsync", side_effect=OSError("gone"))
            with failing, self.assertRaises(OSError):
                files.replace_text(path, "three")
            self.assertEqual(path.read_text("utf-8"), "two")


if __name__ == "__main__":
    unittest.main()
