"""A training in a process of its own that something happens to.

What is expected of it: the sentence that it ends with, its exit code, the seconds it
takes and what it leaves behind.
"""

import dataclasses
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence

from agents.tools.run_directory import RunDirectory
from scripts.soak import processes
from scripts.soak.processes import QUICK, Outcome, Training

_CONFIG = {**QUICK, "env": "Pendulum-v1", "workers": 2, "max_length": 50}
EVALUATED = r"^eval +step"


@dataclasses.dataclass(frozen=True)
class Fault:
    """A training, and what happens to it.

    Attributes:
        name: in the table.
        sentence: expression that matches the line which says what happened.
        code: that the training exits with.
        env: name in `scripts.soak.environments`; None: the pendulum.
        settings: beside those of a quick run.
        arguments: of the command, beside these.
        after: expression of the line after which it is disturbed; None: at once.
        disturb: what is done then; None: nothing.
        within: seconds that it may take after that, or altogether.
        tracebacks: how many are printed: those of environments.
        small_disk: whether there are 2 MB only.
        saves: whether there is to be a checkpoint of the very step that it stopped at.
    """

    name: str
    sentence: str
    code: int = 1
    env: str | None = None
    settings: Mapping[str, object] = dataclasses.field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    after: str | None = EVALUATED
    disturb: Callable[[Training], None] | None = None
    within: float = 60.0
    tracebacks: int = 0
    small_disk: bool = False
    saves: bool = False


def run(fault: Fault, folder: pathlib.Path) -> Outcome:
    """Let a fault happen to a training whose runs lie in a folder."""
    settings = {**_CONFIG, **fault.settings}
    if fault.env:
        settings["env"] = f"scripts.soak.environments:{fault.env}"
    training = Training(
        f"{folder}/runs",
        ["--config=pendulum", *processes.options(settings), *fault.arguments],
        _small_disk(folder) if fault.small_disk else (),
    )
    if fault.disturb and fault.after:
        training.wait_for(fault.after)
    outcome = training.end(fault.disturb)
    directories = folder.glob("runs/*")
    steps = [s for path in directories for s in RunDirectory(path).checkpoint_steps()]
    return outcome._replace(checkpoints=steps)


def complaints(fault: Fault, outcome: Outcome) -> list[str]:
    """Return what is not as it should be."""
    lines = outcome.output.splitlines()
    seconds = outcome.since_disturbed or outcome.seconds
    found = []
    if outcome.code != fault.code:
        found.append(f"exit code {outcome.code}, not {fault.code}")
    if not any(re.search(fault.sentence, line) for line in lines):
        found.append(f"no line matches {fault.sentence!r}")
    if seconds > fault.within:
        found.append(f"took {seconds:.1f} s, not {fault.within:g}")
    tracebacks = outcome.output.count("Traceback (most recent call last)")
    if tracebacks != fault.tracebacks:
        found.append(f"{tracebacks} tracebacks")
    stopped = re.search(r"^Stopped at step ([\d,]+)\.", outcome.output, re.MULTILINE)
    step = int(stopped[1].replace(",", "")) if stopped else None
    if fault.saves and step not in outcome.checkpoints:
        found.append(f"has checkpoints of the steps {outcome.checkpoints} only")
    if outcome.left:
        found.append(f"left the processes {outcome.left}")
    return found


def row(fault: Fault, outcome: Outcome) -> str:
    """Return the line of the table."""
    lines = outcome.output.splitlines()
    said = [line for line in lines if re.search(fault.sentence, line)]
    seconds = outcome.since_disturbed or outcome.seconds
    shown = re.sub(r"/\S*/(?=runs)", "", said[-1] if said else "-").replace("|", r"\|")
    left = "nothing" if not outcome.left else f"{len(outcome.left)} processes"
    return f"| {fault.name} | {shown} | {outcome.code} | {seconds:.1f} | {left} |"


def page(rows: Sequence[str]) -> str:
    """Return the table of all faults."""
    head = [
        "# Faults",
        "",
        "Written by `python -m scripts.soak faults`; the test suite makes them too "
        "(`tests/scripts/soak/faults_test.py`). Seconds are from the disturbance where "
        "something comes from outside; otherwise of the whole run, of which "
        "TensorFlow's start and the compilation take the most.",
        "",
        "| what happens | what is said | exit code | seconds | left behind |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _small_disk(folder: pathlib.Path) -> list[str]:
    """Return a prefix for a command that gives it a folder of 2 MB.

    In a name space of its own, or where that is not allowed by a limit to each file.
    """
    mount = f'mount -t tmpfs -o size=2m tmpfs {folder} && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    with tempfile.TemporaryDirectory() as other:
        probe = [part.replace(str(folder), other) for part in command]
        if subprocess.run(
            [*probe, "true"], capture_output=True, check=False
        ).returncode:
            return ["prlimit", "--fsize=16384", "--"]
    return command
