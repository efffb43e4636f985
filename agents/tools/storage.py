"""What a run leaves on the disk: metrics, summaries and checkpoints."""

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import tensorflow as tf

from agents.tools import run_directory
from agents.tools.checkpoints import Checkpoints
from agents.tools.faults import RunFault, StorageFault
from agents.tools.run_directory import RunDirectory
from agents.tools.writers import Writer, cut_metrics

_WRITE_ERRORS = (OSError, tf.errors.OpError)


class Storage:
    """Writes to the directory of a run, and says so where that can't be done.

    Leaving a `with` block waits until all of it is on the disk.
    """

    def __init__(
        self,
        run: RunDirectory,
        keep: int,
        metrics_size: tf.Variable,
        writers: Sequence[Writer],
        **objects: tf.Module,
    ):
        """Prepare to write.

        Args:
            run: whose directory it is.
            keep: checkpoints that stay, beside the best.
            metrics_size: [] int64, one of the variables of `objects`; where the metrics
                file ends as long as only the checkpoint counts.
            writers: of metrics; one of them writes the metrics file.
            objects: what checkpoints hold.
        """
        self._run = run
        self._metrics_size = metrics_size
        self._writers = writers
        self._checkpoints = Checkpoints(run.checkpoints, keep, **objects)
        self._lines: list[dict[str, Any]] = []
        self._evaluations: dict[int, float] = {}

    def __enter__(self) -> Self:
        with self._faults():
            for writer in self._writers:
                writer.begin(self._run.path, self._lines)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: Any
    ) -> None:
        try:
            self._checkpoints.wait()
        except _WRITE_ERRORS as failure:
            fault = self._fault(failure)
            if not isinstance(error, RunFault):
                raise fault from failure
            print(fault, file=sys.stderr)

    def resume(self) -> None:
        """Go back to the newest checkpoint; what was logged after it is dropped.

        Raises:
            CheckpointError: There is none, or none that fits.
        """
        self._checkpoints.restore(set_aside=True)
        self._lines = cut_metrics(self._run.metrics, int(self._metrics_size))
        self._evaluations = run_directory.evaluations(self._lines)

    def log(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Write what came of a phase.

        Raises:
            StorageFault: It can't be written.
        """
        with self._faults():
            for writer in self._writers:
                writer.write(phase, metrics, step)
        if phase == "eval":
            self._evaluations[step] = metrics["mean_score"]

    def save(self, step: int) -> None:
        """Begin to write a checkpoint.

        Raises:
            StorageFault: It, or the one before, can't be written.
        """
        with self._faults():
            files = [self._run.metrics] if self._run.metrics.exists() else []
            self._metrics_size.assign(sum(file.stat().st_size for file in files))
            self._checkpoints.wait()
            best = self._run.best_step(self._evaluations)
            self._checkpoints.save(step, best, files)

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Name the run directory where it is full, gone or not writable."""
        try:
            if not self._run.path.exists():
                raise FileNotFoundError("it was removed while the run was under way")
            yield
        except _WRITE_ERRORS as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> StorageFault:
        return StorageFault(
            f"Could not write to {self._run.path}: {_reason(error)}. Mend that, and "
            "resume the run from its last checkpoint, if it has one."
        )


def _reason(error: Exception) -> str:
    """Return what happened, without what TensorFlow says around it."""
    text = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return text.rpartition("; ")[2].partition(" [Op:")[0]
