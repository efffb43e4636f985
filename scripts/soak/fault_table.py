"""Every fault that a run must survive or name, with what is expected of it."""

import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from scripts.soak import processes
from scripts.soak.faults import Fault
from scripts.soak.processes import Training

_LONG = {"steps": 100_000_000, "eval_every": 512}
# Of a checkpoint.
_MEGABYTE = {"policy_layers": "[160,160]", "value_layers": "[160,160]"}
_HANGS = r"^It hangs"
# What a run prints last that came to its end.
_UNDISTURBED = r"^See it act:"


def _send(number: int) -> Callable[[Training], None]:
    return lambda training: training.process.send_signal(number)


def _send_between_boundaries(training: Training) -> None:
    """Send SIGTERM a while after the first checkpoint, with the next one far off."""
    folder = pathlib.Path(training.logdir)
    while not list(folder.glob("*/checkpoints/step-0")):
        time.sleep(0.1)
    time.sleep(10)
    training.disturbed = time.monotonic()
    training.process.send_signal(signal.SIGTERM)


def _to_a_worker(number: int) -> Callable[[Training], None]:
    def send(training: Training) -> None:
        trainer = training.process.pid
        workers = [pid for pid in processes.marked(training.mark) if pid != trainer]
        os.kill(workers[0], number)

    return send


def _beside(training: Training) -> None:
    """Resume the run that is under way, and end it when that was refused."""
    (run_directory,) = pathlib.Path(training.logdir).iterdir()
    timestamp = run_directory.name.partition("-")[0]
    command = [sys.executable, "-m", "agents.scripts.train"]
    done = subprocess.run(
        [*command, f"--logdir={training.logdir}", f"--timestamp={timestamp}"],
        capture_output=True,
        text=True,
        check=False,
    )
    training.note(f"{done.returncode}: {done.stderr}")
    training.process.send_signal(signal.SIGINT)


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
        "an environment hangs in a step (timeout of 10 s)",
        r"^Environments 0 to 1 did not finish step within 10 seconds",
        env="hangs_in_step",
    ),
    Fault(
        "... in a reset",
        r"^Environments 0 to 1 did not finish (step|reset) within 10 seconds",
        env="hangs_in_reset",
    ),
    Fault(
        "... in its constructor",
        r"^Environment 0 did not finish construction within 10 seconds",
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
        r"^Stopped, while nothing was being trained",
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
        settings={
            "steps": 10**9,
            "checkpoint_steps": 10**9,
            "eval_every": 10**9,
            "workers": "null",
        },
        arguments=("--backend=tensorflow",),
        after=None,
        saves=True,
        disturb=_send_between_boundaries,
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
        env="Category",
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
        env="OfAnotherSize",
    ),
    Fault("one array, changed in place", _UNDISTURBED, 0, env="ChangesInPlace"),
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
        settings={**_LONG, **_MEGABYTE},
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
