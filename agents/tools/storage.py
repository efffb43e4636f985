"""What a run leaves on the disk: metrics, summaries and checkpoints."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Self

import tensorflow as tf

from agents.tools import run_directory
from agents.tools.checkpoints import Checkpoints
from agents.tools.faults import StorageFault
from agents.tools.run_directory import RunDirectory
from agents.tools.writers import MetricsFile, TensorBoard


class Storage:
    """Writes to the directory of a run, and says so where that can't be done.

    Leaving a `with` block waits until all of it is on the disk.
    """

    def __init__(
        self,
        run: RunDirectory,
        keep: int,
        metrics_size: tf.Variable,
        **objects: tf.Module,
    ):
        """Prepare to write.

        Args:
            run: whose directory it is.
            keep: checkpoints that stay, beside the best.
            metrics_size: [] int64, one of the variables of `objects`; where the metrics
                file ends as long as only the checkpoint counts.
            objects: what checkpoints hold.
        """
        self._run = run
        self._metrics_size = metrics_size
        self._metrics = MetricsFile(run.metrics)
        self._tensor_board = TensorBoard(run.path)
        self._checkpoints = Checkpoints(run.checkpoints, keep, **objects)
        self._evaluations: dict[int, float] = {}

    def __enter__(self) -> Self:
        self._checkpoints.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        with self._faults():
            self._checkpoints.__exit__(*error)

    def resume(self) -> None:
        """Go back to the newest checkpoint; what was logged after it is dropped.

        Raises:
            CheckpointError: There is none, or none that fits.
        """
        self._checkpoints.restore()
        lines = self._metrics.cut(int(self._metrics_size))
        self._tensor_board.rewrite(lines)
        self._evaluations = run_directory.evaluations(lines)

    def log(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Write what came of a phase.

        Raises:
            StorageFault: It can't be written.
        """
        with self._faults():
            self._metrics.write(phase, metrics, step)
            self._tensor_board.write(phase, metrics, step)
        if phase == "eval":
            self._evaluations[step] = metrics["mean_score"]

    def save(self, step: int) -> None:
        """Begin to write a checkpoint.

        Raises:
            StorageFault: It, or the one before, can't be written.
        """
        with self._faults():
            self._metrics_size.assign(self._metrics.size())
            best = self._run.best_step(self._evaluations)
            files = [self._run.metrics] if self._run.metrics.exists() else []
            self._checkpoints.save(step, best, files)

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Name the run directory where it is full, gone or not writable."""
        try:
            if not self._run.path.exists():
                raise FileNotFoundError("it was removed while the run was under way")
            yield
        except (OSError, tf.errors.OpError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise StorageFault(
                f"Could not write to {self._run.path}: {reason}. Mend that, and resume "
                "the run from its last checkpoint, if it has one."
            ) from error
