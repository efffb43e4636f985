"""The command `python -m agents.scripts.visualize`, as a person uses it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import imageio_ffmpeg
import numpy as np

from tests.scripts.train_test import COMMAND, QUICK

VISUALIZE = [sys.executable, "-m", "agents.scripts.visualize"]
NO_SCREEN = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MUJOCO_GL")}


def frames(path):
    """Return the frames of a video, [time, height, width, 3] uint8."""
    reader = imageio_ffmpeg.read_frames(str(path))
    width, height = next(reader)["size"]
    return np.stack(
        [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    )


def visualize(run, *arguments):
    """Visualize a run; return the finished process."""
    return subprocess.run(
        [*VISUALIZE, f"--logdir={run}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=NO_SCREEN,
    )


class VisualizeTest(unittest.TestCase):
    """One short run, looked at in several ways."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.logdir = pathlib.Path(folder)
        subprocess.run(
            [*COMMAND, f"--logdir={cls.logdir}/elsewhere", *QUICK],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (run,) = (cls.logdir / "elsewhere").iterdir()
        cls.run_path = run.rename(cls.logdir / run.name)

    def test_two_episodes_give_two_clips_statistics_and_a_curve(self):
        """The run was moved before; no screen."""
        done = visualize(self.run_path, "--episodes=2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        videos = self.run_path / "videos"
        clips = sorted(videos.glob("*.mp4"))
        self.assertEqual(len(clips), 2)
        for clip in clips:
            pictures = frames(clip)
            # 20 steps and the reset, give or take one by the encoder.
            self.assertAlmostEqual(len(pictures), 21, delta=1)
            self.assertGreater(pictures[0].std(), 5)
            change = np.abs(pictures[0].astype(int) - pictures[-1]).mean()
            self.assertGreater(change, 0.1)
        statistics = json.loads((videos / "statistics.json").read_text())
        scores = [episode["score"] for episode in statistics["episodes"]]
        self.assertEqual([e["length"] for e in statistics["episodes"]], [20, 20])
        self.assertAlmostEqual(statistics["mean_score"], np.mean(scores), 3)
        self.assertAlmostEqual(statistics["std_score"], np.std(scores), 3)
        self.assertTrue((videos / "scores.png").read_bytes().startswith(b"\x89PNG"))

    def test_the_newest_run_is_taken_and_the_folder_can_be_chosen(self):
        with tempfile.TemporaryDirectory() as outdir:
            done = visualize(self.logdir, f"--outdir={outdir}", "--episodes=1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(len(list(pathlib.Path(outdir).glob("*.mp4"))), 1)

    def test_ctrl_c_leaves_the_first_clip_playable(self):
        with tempfile.TemporaryDirectory() as outdir:
            with subprocess.Popen(
                [*VISUALIZE, f"--logdir={self.run_path}", f"--outdir={outdir}"]
                + ["--episodes=500"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                deadline = time.monotonic() + 60
                while len(list(pathlib.Path(outdir).glob("*.mp4"))) < 2:
                    self.assertLess(time.monotonic(), deadline)
                    self.assertIsNone(process.poll())
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                errors = process.communicate(timeout=20)[1]
            self.assertEqual(process.returncode, 130)
            self.assertNotIn("Traceback", errors)
            first = min(pathlib.Path(outdir).glob("*.mp4"), key=os.path.getmtime)
            self.assertGreater(len(frames(first)), 15)

    def test_mistakes_are_one_sentence_and_exit_with_2(self):
        for arguments, message in (
            ([self.logdir / "missing"], "no run with a checkpoint"),
            ([self.run_path, "--episodes=0"], "whole number above 0"),
        ):
            done = visualize(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


class BackendTest(unittest.TestCase):
    """Runs of backends that render nothing."""

    def visualize(self, config, *arguments):
        """Train a little, and visualize; return what was printed, and the files."""
        logdir = self.enterContext(tempfile.TemporaryDirectory())
        small = ["--set=steps=128", "--set=num_agents=2", "--set=horizon=32"]
        small += ["--set=eval_episodes=1", "--set=max_length=10"]
        subprocess.run(
            [*COMMAND, f"--config={config}", f"--logdir={logdir}", *small, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        done = visualize(logdir, "--episodes=1")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        files = {path.suffix for path in pathlib.Path(logdir).glob("*/videos/*")}
        return done.stdout, files

    def test_gymnasium_s_environment_of_the_same_id_is_recorded(self):
        for backend in ("tensorflow", "envpool"):
            printed, files = self.visualize("cartpole", f"--backend={backend}")
            self.assertIn("Videos, statistics and curve", printed)
            self.assertEqual(files, {".mp4", ".json", ".png"})

    def test_where_there_is_none_statistics_and_curve_are_written(self):
        """Gymnasium has a newer version only."""
        printed, files = self.visualize(
            "cartpole", "--backend=envpool", "--set=env=LunarLander-v2"
        )
        self.assertIn("There will be no video", printed)
        self.assertIn("Gymnasium has no env 'LunarLander-v2'", printed)
        self.assertRegex(printed, "\nStatistics and curve: ")
        self.assertEqual(files, {".json", ".png"})


class MujocoTest(unittest.TestCase):
    """Rendering without a screen."""

    def test_mujoco_is_rendered(self):
        with tempfile.TemporaryDirectory() as logdir:
            small = ["--set=steps=64", "--set=num_agents=2", "--set=horizon=32"]
            small += ["--set=eval_episodes=1", "--set=max_length=10"]
            subprocess.run(
                [*COMMAND, "--config=hopper", f"--logdir={logdir}", *small],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            done = visualize(logdir, "--episodes=1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            (clip,) = pathlib.Path(logdir).rglob("*.mp4")
            self.assertGreater(frames(clip)[0].std(), 5)


if __name__ == "__main__":
    unittest.main()
