"""Training in a process of its own, watched from outside."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

# A run of about a second, beside TensorFlow's start and the compilation.
QUICK = {
    "steps": 2048,
    "checkpoint_steps": 512,
    "eval_every": 1024,
    "eval_episodes": 4,
    "num_agents": 4,
    "horizon": 32,
    "update_epochs": 2,
    "policy_layers": "[8]",
    "value_layers": "[8]",
    "timeout": 10,
}
_MARK = "SOAK_MARK"


class Outcome(NamedTuple):
    """How a process ended.

    Attributes:
        code: its exit code; negative: the signal.
        output: what it printed, errors among it.
        seconds: from its start to its end.
        since_disturbed: from the disturbance to its end, or None.
        left: processes that it left behind, killed since.
        checkpoints: steps of those in its run directory, if asked for.
    """

    code: int
    output: str
    seconds: float
    since_disturbed: float | None
    left: list[int]
    checkpoints: Sequence[int] = ()


class Training:
    """`python -m agents.scripts.train`, and all that it starts.

    Attributes:
        logdir: folder of the run.
        process: of the command.
        mark: by which `marked` finds all that it starts.
        disturbed: when that began, by `time.monotonic`; None: it was not.
    """

    def __init__(
        self,
        logdir: str,
        arguments: Sequence[str],
        prefix: Sequence[str] = (),
    ):
        """Start it.

        Args:
            logdir: folder of the run; the environments find it as `SOAK_LOGDIR`.
            arguments: of the command, beside that.
            prefix: command that runs it.
        """
        self.logdir = logdir
        self.mark = uuid.uuid4().hex
        self.disturbed: float | None = None
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            # As it is in the background of a shell; it would be passed on.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._began = time.monotonic()
        self._lines: list[str] = []
        self._grew = threading.Condition()
        command = [*prefix, sys.executable, "-m", "agents.scripts.train"]
        self.process = subprocess.Popen(
            [*command, f"--logdir={logdir}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "SOAK_LOGDIR": logdir, _MARK: self.mark},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def watch_memory(self, every: float = 0.5) -> list[int]:
        """Return a list that grows by the bytes it holds, as time passes."""
        peaks: list[int] = []
        statm = pathlib.Path(f"/proc/{self.process.pid}/statm")

        def watch() -> None:
            while self.process.poll() is None:
                fields = _read_bytes(statm).split()
                if len(fields) > 1 and self._trains():
                    peaks.append(int(fields[1]) * os.sysconf("SC_PAGE_SIZE"))
                time.sleep(every)

        threading.Thread(target=watch, daemon=True).start()
        return peaks

    def _trains(self) -> bool:
        """Whether the first lines about it were printed: all is compiled then."""
        return len(self._lines) >= 2

    def note(self, text: str) -> None:
        """Add to what it has printed."""
        with self._grew:
            self._lines.append(text)

    def wait_for(self, pattern: str, seconds: float = 120) -> bool:
        """Wait until a line is printed that matches; return whether one was."""

        def printed() -> bool:
            found = any(re.search(pattern, line) for line in self._lines)
            return found or not self._reader.is_alive()

        with self._grew:
            self._grew.wait_for(printed, seconds)
            return any(re.search(pattern, line) for line in self._lines)

    def end(
        self, disturb: Callable[["Training"], None] | None = None, seconds: float = 120
    ) -> Outcome:
        """Disturb it and wait for its end; what is left of it is killed.

        Args:
            disturb: called first.
            seconds: after which it is killed itself.
        """
        if disturb:
            self.disturbed = time.monotonic()
            disturb(self)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        ended = time.monotonic()
        left = marked(self.mark, grace=5.0)
        for process_id in left:
            os.kill(process_id, 9)
        self._reader.join(5)
        return Outcome(
            self.process.returncode,
            "".join(self._lines),
            ended - self._began,
            ended - self.disturbed if self.disturbed else None,
            left,
        )

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._grew:
                self._lines.append(line)
                self._grew.notify_all()
        with self._grew:
            self._grew.notify_all()


def options(settings: Mapping[str, object]) -> list[str]:
    """Return `--set` options."""
    return [f"--set={name}={value}" for name, value in settings.items()]


def marked(mark: str, grace: float = 0.0) -> list[int]:
    """Return the processes that descend from one with a mark.

    Args:
        mark: of a `Training`.
        grace: seconds that they may take to end.
    """
    deadline = time.monotonic() + grace
    while True:
        found = [
            int(path.parent.name)
            for path in pathlib.Path("/proc").glob("[0-9]*/environ")
            if f"{_MARK}={mark}".encode() in _read_bytes(path)
        ]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def _read_bytes(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
