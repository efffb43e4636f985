"""What can go wrong in a run, in the words that a person reads."""

import traceback
from collections.abc import Sequence


class RunFault(RuntimeError):
    """A run can't go on."""


class NumericFault(RunFault):
    """A loss or the weights became infinite or no number."""


class CheckpointError(RunFault):
    """There is no checkpoint, or none that fits."""


class StorageFault(RunFault):
    """The run directory can't be written to."""


class EnvironmentFault(RunFault):
    """One or several environments of a batch failed.

    Attributes:
        indices: which environments of the batch.
        reason: what happened, as the rest of a sentence that they begin.
        remote_traceback: where it happened in a worker process, or empty.
    """

    def __init__(self, indices: Sequence[int], reason: str, remote_traceback: str = ""):
        """Describe a fault of the environments at some indices."""
        self.indices = tuple(indices)
        self.reason = reason
        self.remote_traceback = remote_traceback
        super().__init__(f"{self._subject()} {reason}")
        if remote_traceback:
            self.add_note(remote_traceback.rstrip())

    @classmethod
    def of(
        cls, indices: Sequence[int], event: str, error: BaseException
    ) -> "EnvironmentFault":
        """Return the fault that an exception means, with its traceback.

        A fault from within the environments at `indices` stays what it is.
        """
        if isinstance(error, EnvironmentFault):
            return error.shifted(indices[0])
        text = "".join(traceback.format_exception(error))
        return cls(indices, f"{event}: {type(error).__name__}: {error}", text)

    def shifted(self, offset: int) -> "EnvironmentFault":
        """Return the same fault, with indices in a larger batch."""
        indices = [index + offset for index in self.indices]
        return EnvironmentFault(indices, self.reason, self.remote_traceback)

    def __reduce__(self):
        return EnvironmentFault, (self.indices, self.reason, self.remote_traceback)

    def _subject(self) -> str:
        if len(self.indices) == 1:
            return f"Environment {self.indices[0]}"
        return f"Environments {self.indices[0]} to {self.indices[-1]}"
