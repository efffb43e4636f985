"""What docs/writing-a-trainer.md says, done in an environment of its own."""

import json
import os
import pathlib
import re
import site
import subprocess
import tempfile
import unittest
import venv

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "writing-a-trainer.md"
# A file's name and its text, or commands.
BLOCK = re.compile(r"(?:^`([\w/.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.S)


class WritingATrainerTest(unittest.TestCase):
    """The page's blocks, in the order in which they stand."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder, self.environment = folder / "work", folder / "environment"
        self.folder.mkdir()
        venv.create(self.environment, with_pip=True)
        # What is installed already is seen, so that nothing large is fetched.
        (packages,) = self.environment.glob("lib/python*/site-packages")
        lines = [f"import site; site.addsitedir({x!r})" for x in site.getsitepackages()]
        packages.joinpath("installed.pth").write_text("\n".join(lines))

    def shell(self, commands, folder):
        """Run commands in the environment; return what they printed."""
        path = f"{self.environment}/bin{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=folder,
            # pip builds with the setuptools that are installed.
            env=os.environ | {"PATH": path, "PIP_NO_BUILD_ISOLATION": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_it_leads_from_an_empty_folder_to_a_trainer_that_trains(self):
        blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        self.assertEqual([language for _, language, _ in blocks].count("sh"), 2)
        package = self.folder / "agents-awr"
        printed = ""
        for name, language, text in blocks:
            if language == "sh":
                printed += self.shell(
                    text, package if package.exists() else self.folder
                )
            else:
                (package / name).write_text(text, encoding="utf-8")
        self.assertRegex(printed, r"\n  awr +agents-awr\n")
        (run,) = package.glob("runs/*-cartpole")
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        last = json.loads(lines[-1])
        self.assertEqual(last["phase"], "eval")
        self.assertGreaterEqual(last["mean_score"], 475)
        self.assertTrue(list(run.glob("videos/*.mp4")))
        self.assertFalse(
            list(pathlib.Path(site.getsitepackages()[0]).glob("*agents_awr*")),
            "the package must go where it was asked to",
        )


if __name__ == "__main__":
    unittest.main()
