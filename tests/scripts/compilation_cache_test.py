"""Where compiled programs are kept."""

import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

from agents.scripts import compilation_cache

# A field of three bytes, and a number.
WHOLE = b"\x0a\x03abc" + b"\x10\x96\x01"


class CompilationCacheTest(unittest.TestCase):
    """The flag, and the folder."""

    def setUp(self):
        self.base = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def enable(self, **environ):
        """Return the flags after enabling, in the temporary folder by default."""
        environ = {"AGENTS_XLA_CACHE": str(self.base), **environ}
        compilation_cache.enable(environ)
        return environ.get("TF_XLA_FLAGS")

    def folder(self):
        """Return the one folder below the temporary one."""
        (folder,) = self.base.iterdir()
        return folder

    def test_the_folder_is_named_by_tensorflow_s_version(self):
        flags = self.enable()
        self.assertEqual(flags, f"--tf_xla_persistent_cache_directory={self.folder()}")
        self.assertRegex(self.folder().name, r"^tensorflow-2\.\d+\.\d+-[0-9a-f]{12}$")

    def test_own_flags_stay(self):
        self.assertTrue(self.enable(TF_XLA_FLAGS="--a=b").startswith("--a=b --tf_xla"))
        own = "--tf_xla_persistent_cache_directory=/own"
        self.assertEqual(self.enable(TF_XLA_FLAGS=own), own)

    def test_programs_compiled_otherwise_have_a_folder_of_their_own(self):
        folders = {self.enable(), self.enable(XLA_FLAGS="--xla_cpu_x=1")}
        features = "agents.scripts.compilation_cache._processor_features"
        with mock.patch(features, return_value="flags: sse2"):
            folders.add(self.enable())
        self.assertEqual(len(folders), 3)

    def test_folders_that_nobody_used_for_a_month_are_removed(self):
        unused, used, foreign = (
            self.base / name
            for name in ("tensorflow-2.0.0-abc", "tensorflow-2.1.0-abc", "mine")
        )
        now = time.time()
        for path, days in ((unused, 31), (used, 29), (foreign, 31)):
            path.mkdir()
            os.utime(path, (now, now - days * 24 * 3600))
        self.enable()
        left = [path.name for path in self.base.iterdir()]
        self.assertEqual(len(left), 3)
        self.assertNotIn(unused.name, left)

    def test_it_can_be_switched_off(self):
        self.assertIsNone(self.enable(AGENTS_XLA_CACHE=""))

    def test_by_default_it_is_below_the_cache_folder_of_the_user(self):
        environ = {"XDG_CACHE_HOME": str(self.base)}
        compilation_cache.enable(environ)
        self.assertIn(f"{self.base}/batch-ppo/xla/tensorflow-", environ["TF_XLA_FLAGS"])

    def test_a_folder_that_can_t_be_made_is_left_out(self):
        (self.base / "file").touch()
        self.assertIsNone(self.enable(AGENTS_XLA_CACHE=str(self.base / "file" / "x")))

    def test_files_that_were_cut_short_are_removed(self):
        self.enable()
        contents = {"whole.pb": WHOLE, "cut.pb": WHOLE[:4], "zeros.pb": bytes(100)}
        contents |= {"empty.pb": b"", "junk.pb": b"\x0b\x0c"}
        for name, content in contents.items():
            (self.folder() / name).write_bytes(content)
        self.enable()
        left = [path.name for path in self.folder().iterdir()]
        self.assertEqual(left, ["whole.pb"])

    def test_the_oldest_are_removed(self):
        self.enable()
        for number in range(205):
            (self.folder() / f"{number}.pb").write_bytes(WHOLE)
        self.enable()
        self.assertEqual(len(list(self.folder().iterdir())), 200)


if __name__ == "__main__":
    unittest.main()
