"""Metrics files and TensorBoard."""

import pathlib
import tempfile
import unittest

import tensorflow as tf

from agents.tools.writers import MetricsFile, TensorBoard


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

    def test_a_line_for_each_phase(self):
        file = MetricsFile(self.folder / "metrics.jsonl")
        file.write("train", {"mean_score": 1.5}, 10)
        file.write("eval", {"mean_score": None}, 10)
        self.assertEqual(
            (self.folder / "metrics.jsonl").read_text(encoding="utf-8"),
            '{"phase": "train", "step": 10, "mean_score": 1.5}\n'
            '{"phase": "eval", "step": 10, "mean_score": null}\n',
        )

    def test_lines_after_a_size_can_be_cut(self):
        file = MetricsFile(self.folder / "metrics.jsonl")
        self.assertEqual(file.size(), 0)
        file.write("train", {}, 10)
        size = file.size()
        file.write("train", {}, 20)
        self.assertEqual(file.cut(size), [{"phase": "train", "step": 10}])
        self.assertEqual(file.size(), size)

    def test_scalars_for_each_phase_without_those_that_are_missing(self):
        board = TensorBoard(self.folder)
        board.write("train", {"mean_score": 1.5, "std_score": None}, 10)
        board.write("eval", {"mean_score": 2.5}, 10)
        expected = [("eval", 10, "mean_score", 2.5), ("train", 10, "mean_score", 1.5)]
        self.assertEqual(scalars(self.folder), expected)

    def test_events_can_be_written_anew_from_lines(self):
        TensorBoard(self.folder).write("train", {"mean_score": 1.5}, 20)
        line = {"phase": "train", "step": 10, "mean_score": 0.5}
        TensorBoard(self.folder).rewrite([line])
        self.assertEqual(scalars(self.folder), [("train", 10, "mean_score", 0.5)])


if __name__ == "__main__":
    unittest.main()
