"""Ctrl-C and SIGTERM as a request that the loop can honour in good order."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

# How long the loop may go on: a person is to see an end within 5 s, and a cluster that
# takes its machine back within 10.
_GRACE_SECONDS = {signal.SIGINT: 2.0, signal.SIGTERM: 8.0, signal.SIGHUP: 8.0}
_LAST_RESORT_SECONDS = 1.5
_START_SECONDS = 3.0


class Stopped(Exception):
    """The run was asked to stop, and did.

    Attributes:
        exit_code: 128 plus the number of the signal.
    """

    def __init__(self, signal_number: int, message: str):
        """Describe the stop."""
        super().__init__(message)
        self.exit_code = 128 + signal_number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turn signals into `Stopped` as long as there is no `StopSignal`.

    Libraries that are being imported may swallow it, so that the process ends after a
    while in any case; its workers end with it.

    Raises:
        Stopped: At a signal.
    """

    def stop(number: int, frame: object) -> None:
        del frame
        message = "Stopped, while nothing was being trained."
        timer = threading.Timer(_START_SECONDS, _end_at_once, [number, message])
        timer.daemon = True
        timer.start()
        raise Stopped(number, message)

    before = {
        number: signal.signal(number, stop)
        for number in _GRACE_SECONDS
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class StopSignal:
    """Hears signals while the main thread is inside of TensorFlow.

    Python runs signal handlers only between two operations of the main thread, which a
    graph can keep busy for long. So a thread is woken through a pipe. After a time of
    grace, or at a second signal, it calls `abort`; and if that does not help it ends
    the process, whose workers end with it.

    Attributes:
        requested: number of the signal, or None.
    """

    def __init__(self, abort: Callable[[], None], grace_seconds: float | None = None):
        """Prepare; signals are heard inside of a `with` block on the main thread.

        Args:
            abort: breaks off whatever the main thread waits for.
            grace_seconds: how long the loop may go on after the signal; None: 2 s after
                Ctrl-C, 8 s after others.
        """
        self.requested: int | None = None
        self._abort = abort
        self._grace_seconds = grace_seconds
        self._deadline = float("inf")
        self._finished = threading.Event()
        self._reader = self._writer = -1
        self._handlers: dict[int, Any] = {}
        self._wakeup = -1

    @property
    def seconds_left(self) -> float:
        """Seconds that the loop may go on; infinite before a signal."""
        return self._deadline - time.monotonic()

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._wakeup = signal.set_wakeup_fd(self._writer)
        for number in _GRACE_SECONDS:
            # One that is ignored already, as by nohup, stays so.
            if signal.getsignal(number) != signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, _ignore)
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._finished.set()
        # Once it was asked to stop, more signals can't make the process end sooner.
        if self.requested is None:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._writer)

    def _listen(self) -> None:
        with os.fdopen(self._reader, "rb", buffering=0) as reader:
            # To the end, lest a third signal is written where nobody reads.
            while number := reader.read(1):
                if number[0] not in _GRACE_SECONDS:
                    continue
                if self.requested is not None:
                    self._deadline = time.monotonic()
                    continue
                grace = self._grace_seconds
                if grace is None:
                    grace = _GRACE_SECONDS[number[0]]
                self._deadline = time.monotonic() + grace
                self.requested = number[0]
                threading.Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        while self.seconds_left > 0:
            if self._finished.wait(0.05):
                return
        self._abort()
        if not self._finished.wait(_LAST_RESORT_SECONDS):
            message = "Did not stop in time; ended at once. The last checkpoint holds."
            _end_at_once(self.requested, message)


def _end_at_once(number: int, message: str) -> None:
    print(message, file=sys.stderr, flush=True)
    os._exit(128 + number)  # pylint: disable=protected-access


def _ignore(number: int, frame: object) -> None:
    """Leave it to the pipe."""
    del number, frame
