"""Every fault that a run must survive or name, with what is expected of it.

Each is a training in a process of its own that something happens to: the sentence that
it ends with, its exit code, the seconds it takes and what it leaves behind.
"""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence

from agents.tools.run_directory import RunDirectory
from scripts.soak import processes
from scripts.soak.processes import QUICK, Outcome, Training

_CONFIG = {**QUICK, "env": "Pendulum-v1"}
_LONG = {"steps": 100_000_000, "eval_every": 512}
_EVALUATED = r"^eval +step"
_HANGS = r"^It hangs"
# Where it should not be mended by hand: a sentence says what happened, and no more.
_UNDISTURBED = r"^See it act:"


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
        after: expression of the line after which it is disturbed.
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
    after: str = _EVALUATED
    disturb: Callable[[Training], None] | None = None
    within: float = 60.0
    tracebacks: int = 0
    small_disk: bool = False
    saves: bool = False


def run(fault: Fault, folder: pathlib.Path) -> Outcome:
    """Let a fault happen to a training whose runs lie in a folder."""
    settings = {"max_length": 50, **_CONFIG, **fault.settings}
    if fault.env:
        settings["env"] = f"scripts.soak.environments:{fault.env}"
    options = [f"--logdir={folder}/runs", *processes.options(settings)]
    training = Training(
        ["--config=pendulum", *options, *fault.arguments],
        {"SOAK_LOGDIR": f"{folder}/runs"},
        _small_disk(folder) if fault.small_disk else (),
    )
    if fault.disturb:
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
    if fault.saves and int(stopped[1].replace(",", "")) not in outcome.checkpoints:
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


def _send(number: int) -> Callable[[Training], None]:
    return lambda training: training.process.send_signal(number)


def _to_a_worker(number: int) -> Callable[[Training], None]:
    def send(training: Training) -> None:
        trainer = training.process.pid
        workers = [pid for pid in processes.marked(training.mark) if pid != trainer]
        os.kill(workers[0], number)

    return send


def _beside(training: Training) -> None:
    """Resume the run that is under way, and end it when that was refused."""
    (logdir,) = (a for a in training.arguments if a.startswith("--logdir="))
    (run_directory,) = pathlib.Path(logdir.partition("=")[2]).iterdir()
    timestamp = run_directory.name.partition("-")[0]
    command = [sys.executable, "-m", "agents.scripts.train", logdir]
    done = subprocess.run(
        [*command, f"--timestamp={timestamp}"],
        capture_output=True,
        text=True,
        check=False,
    )
    training.note(f"{done.returncode}: {done.stderr}")
    training.process.send_signal(signal.SIGINT)


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


FAULTS = (
    # Workers.
    Fault(
        "an environment raises in a step",
        r"^Environment 0 raised: ValueError: something went wrong",
        env="raises_in_step",
        tracebacks=1,
    ),
    Fault(
        "... in a reset",
        r"^Environment 0 raised: ValueError: something went wrong",
        env="raises_in_reset",
        tracebacks=1,
    ),
    Fault(
        "... in its constructor",
        r"^Environment 0 could not be constructed: ValueError: something went wrong",
        env="raises_in_constructor",
        tracebacks=1,
    ),
    Fault(
        "an environment ends its process",
        r"^Environments 0 to 1 lost the worker process during step: it ended with 7",
        env="exits",
    ),
    Fault(
        "a worker kills itself",
        r"^Environments 0 to 1 lost the worker process during step: .* SIGKILL",
        env="is_killed",
    ),
    Fault(
        "a worker is killed",
        r"^Environments \d to \d lost the worker process during .*SIGKILL",
        settings=_LONG,
        disturb=_to_a_worker(signal.SIGKILL),
        within=5,
    ),
    Fault(
        "an environment hangs in a step (timeout of 5 s)",
        r"^Environments 0 to 1 did not finish step within 5 seconds",
        env="hangs_in_step",
    ),
    Fault(
        "... in a reset",
        r"^Environments 0 to 1 did not finish (step|reset) within 5 seconds",
        env="hangs_in_reset",
    ),
    Fault(
        "... in its constructor",
        r"^Environment 0 did not finish construction within 5 seconds",
        env="hangs_in_constructor",
    ),
    Fault("... as it is closed", _UNDISTURBED, 0, env="hangs_in_close"),
    Fault(
        "an environment raises, and workers may be restarted twice",
        r"something went wrong \(after 2 restarts of workers\)",
        env="raises_in_step",
        settings={"restart_workers": 2, "steps": 100_000},
        tracebacks=3,
    ),
    Fault(
        "a worker stands still, and may be restarted",
        r"The worker was started again; 0 restarts are left",
        0,
        settings={"restart_workers": 1, "steps": 20_000, "eval_every": 512},
        disturb=_to_a_worker(signal.SIGSTOP),
    ),
    # Signals.
    Fault(
        "Ctrl-C while workers start",
        r"^Stopped before the training began",
        130,
        env="hangs_in_constructor",
        settings={"timeout": 60},
        after=_HANGS,
        disturb=_send(signal.SIGINT),
        within=5,
    ),
    Fault(
        "Ctrl-C",
        r"^Stopped at step",
        130,
        settings=_LONG,
        disturb=_send(signal.SIGINT),
        within=5,
    ),
    Fault(
        "Ctrl-C while an environment hangs",
        r"^Stopped at step",
        130,
        env="hangs_in_step",
        settings={"timeout": 60},
        after=_HANGS,
        disturb=_send(signal.SIGINT),
        within=5,
    ),
    Fault(
        "SIGTERM",
        r"^Stopped at step",
        143,
        settings=_LONG,
        disturb=_send(signal.SIGTERM),
        within=10,
    ),
    Fault(
        "SIGTERM, compiled environments and a boundary that is far",
        r"^Stopped at step",
        143,
        settings={**_LONG, "checkpoint_steps": 3_000_000, "eval_every": 10**8},
        arguments=("--backend=tensorflow",),
        after=r"^train +step",
        saves=True,
        disturb=_send(signal.SIGTERM),
        within=10,
    ),
    # Numbers.
    Fault(
        "an observation is no number",
        r"^Environment 0 gave the observation nan in step \d+ after",
        env="nan_observation",
    ),
    Fault(
        "a reward is infinite",
        r"^Environment 0 gave the reward inf in step \d+ after",
        env="infinite_reward",
    ),
    Fault("a reward is 1e8", _UNDISTURBED, 0, env="large_reward"),
    Fault(
        "a loss is no number",
        r"^\w+ became (nan|inf) in the update after step \d+",
        settings={"learning_rate": 2e9, "max_gradient_norm": "null"},
    ),
    Fault(
        "... with --debug_numerics",
        r'Detected Infinity or NaN in output 0 of eagerly-executing op "\w+"',
        settings={"learning_rate": 2e9, "max_gradient_norm": "null"},
        arguments=("--debug_numerics",),
    ),
    # Promises.
    Fault(
        "an observation has another shape",
        r"^Environment 0 returned an observation of shape \(3,\)",
        env="another_shape",
    ),
    Fault(
        "... another type",
        r"^Environment 0 ",
        env="another_type",
    ),
    Fault(
        "an observation is a category that there is not",
        r"^Environment 0 gave the observation 3 .* outside of its space Discrete",
        env="unknown_category",
    ),
    Fault(
        "an observation is out of the bounds of a Box",
        r"^Environment 0 gave the observation 1.5 .* outside of its space Box",
        0,
        env="out_of_bounds",
    ),
    Fault(
        "a reward is an array",
        r"^Environment 0 returned a reward that is no number: array",
        env="array_reward",
    ),
    Fault(
        "a flag is a text",
        r"^Environment 0 returned flags that are no booleans: terminated 'no'",
        env="text_flag",
    ),
    Fault(
        "two environments have different spaces",
        r"^Environment 1 has the spaces .* all environments of a batch must have",
        env="different_spaces",
    ),
    Fault("one array, changed in place", _UNDISTURBED, 0, env="changes_in_place"),
    Fault(
        "nothing ends an episode",
        r"has no limit to the length of its episodes.*max_length",
        2,
        env="never_ends",
        settings={"max_length": "null"},
    ),
    Fault(
        "an episode never ends, but max_length says when",
        _UNDISTURBED,
        0,
        env="never_ends",
    ),
    # Storage.
    Fault(
        "the disk is full",
        r"^Could not write to .*(No space left on device|File too large).* Mend that",
        settings=_LONG,
        small_disk=True,
    ),
    Fault(
        "the folder of runs can't be made",
        r"can't be made",
        2,
        arguments=("--logdir=/proc/runs",),
    ),
    Fault(
        "the run directory is removed",
        r"^Could not write to .*removed while the run was under way",
        env="remove_run_directory",
        settings={"steps": 100_000},
    ),
    Fault(
        "a second trainer on the same run directory",
        r"^2: The run .* is being trained by another process",
        130,
        settings=_LONG,
        disturb=_beside,
    ),
)
