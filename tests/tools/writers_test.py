"""Metrics files, TensorBoard, and writers of other packages."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import tensorflow as tf

from agents.tools.writers import Guarded, MetricsFile, TensorBoard, cut_metrics


def scalars(folder):
    """Return (phase, step, tag, value) of all events below a folder."""
    found = []
    for path in sorted(folder.glob("*/events.out.tfevents.*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                number = float(tf.make_ndarray(value.tensor))
                found.append((path.parent.name, event.step, value.tag, number))
    return found


class WritersTest(unittest.TestCase):
    """In a temporary folder."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        self.metrics = self.folder / "metrics.jsonl"

    def begun(self, writer, lines=()):
        """Return a writer that has begun."""
        writer.begin(self.folder, lines)
        return writer

    def test_a_line_for_each_phase(self):
        file = self.begun(MetricsFile())
        file.write("train", {"mean_score": 1.5}, 10)
        file.write("eval", {"mean_score": None}, 10)
        self.assertEqual(
            self.metrics.read_text(encoding="utf-8"),
            '{"phase": "train", "step": 10, "mean_score": 1.5}\n'
            '{"phase": "eval", "step": 10, "mean_score": null}\n',
        )

    def test_lines_after_a_size_can_be_cut(self):
        self.assertEqual(cut_metrics(self.metrics, 0), [])
        file = self.begun(MetricsFile())
        file.write("train", {}, 10)
        size = self.metrics.stat().st_size
        file.write("train", {}, 20)
        self.assertEqual(
            cut_metrics(self.metrics, size), [{"phase": "train", "step": 10}]
        )
        self.assertEqual(self.metrics.stat().st_size, size)

    def test_scalars_for_each_phase_without_those_that_are_missing(self):
        board = self.begun(TensorBoard())
        board.write("train", {"mean_score": 1.5, "std_score": None}, 10)
        board.write("eval", {"mean_score": 2.5}, 10)
        expected = [("eval", 10, "mean_score", 2.5), ("train", 10, "mean_score", 1.5)]
        self.assertEqual(scalars(self.folder), expected)

    def test_events_begin_with_the_lines_of_a_resumed_run(self):
        self.begun(TensorBoard()).write("train", {"mean_score": 1.5}, 20)
        line = {"phase": "train", "step": 10, "mean_score": 0.5}
        self.begun(TensorBoard(), [line])
        self.assertEqual(scalars(self.folder), [("train", 10, "mean_score", 0.5)])


class GuardedTest(unittest.TestCase):
    """A writer of the package other."""

    def test_needs_only_write(self):
        written = []

        class Minimal:
            """Remembers what it is given."""

            def write(self, phase, metrics, step):
                """Remember."""
                written.append((phase, metrics, step))

        writer = Guarded(Minimal(), "other")
        writer.begin(pathlib.Path("run"), [])
        writer.write("eval", {"mean_score": 1.0}, 5)
        self.assertEqual(written, [("eval", {"mean_score": 1.0}, 5)])

    def test_one_that_fails_is_named_once_and_left_out(self):
        class Broken:
            """Fails."""

            def write(self, phase, metrics, step):
                """Fail."""
                raise ConnectionError(f"no server for {phase}")

        writer, printed = Guarded(Broken(), "other"), io.StringIO()
        with contextlib.redirect_stderr(printed):
            writer.write("train", {}, 1)
            writer.write("train", {}, 2)
        self.assertEqual(
            printed.getvalue(),
            "The stats writer Broken of the package other failed, and is left out from "
            "now on: ConnectionError: no server for train.\n",
        )


if __name__ == "__main__":
    unittest.main()
