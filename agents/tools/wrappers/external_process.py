"""An environment in a process of its own, outside this process's interpreter lock."""

import contextlib
import functools
import json
import mmap
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import gymnasium
import numpy as np

from agents.parts import nests
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers import protocol
from agents.tools.wrappers.transition_arrays import Layout, TransitionArrays

# Not by `multiprocessing`: its children import the parent's `__main__`, and with it
# TensorFlow.
_WORKER_PROGRAM = (
    "import json, sys; arguments = json.loads(sys.argv[1]); "
    "sys.path[:] = arguments['path']; "
    "from agents.tools.wrappers import worker; "
    "worker.main(**arguments['worker'])"
)
_CLOSE_SECONDS = 2.0


class UnpicklableConstructor(TypeError):
    """A constructor that can't be sent to a worker process."""


class ExternalProcess:
    """Forwards `step`, `reset`, `close`, `call` and attributes to a worker process.

    The constructor runs in the worker. It may build a Gymnasium environment, and this
    object then behaves as that environment does; or a `BatchEnv`, and it behaves as
    that. The worker starts at once and is waited for when it is first needed, so that
    many start side by side. It ends with its owner, however that ends.

    Observations, rewards, flags and actions travel through shared memory that has no
    name and lasts as long as one of the two processes.
    """

    def __init__(
        self,
        constructor: Callable[[], Any],
        timeout: float = 60.0,
        with_infos: bool = True,
        core: int | None = None,
    ):
        """Start a worker.

        Args:
            constructor: takes nothing and returns an environment or a `BatchEnv`; a
                lambda, closure, local class or `functools.partial` will do.
            timeout: seconds that construction, a step or a reset may take.
            with_infos: whether `step` and `reset` hand over what environments tell.
            core: processor core that the worker is kept on, where the system can do so;
                None: any.

        Raises:
            UnpicklableConstructor: The constructor can't be pickled.
        """
        self._payload = (_pickled(constructor), with_infos)
        self._timeout = timeout
        self._core = core
        self._description: protocol.Description | None = None
        self._count = 1
        self._arrays: TransitionArrays | None = None
        self._start()

    def _start(self) -> None:
        self._connection, remote = Pipe()
        # `Connection.poll` would make one of these each time.
        self._answers = select.poll()
        self._answers.register(self._connection, select.POLLIN)
        self._process, lifeline = _start_worker(remote, self._core)
        # Also when this object is forgotten rather than closed.
        self._end = weakref.finalize(self, _end_worker, self._process, lifeline)
        try:
            self._connection.send(self._payload)
        except OSError:
            pass  # It died; whoever needs it first will be told.

    @property
    def observation_space(self) -> gymnasium.Space:
        """The observation space of one environment."""
        return self._described().observation_space

    @property
    def action_space(self) -> gymnasium.Space:
        """The action space of one environment."""
        return self._described().action_space

    @property
    def num_envs(self) -> int | None:
        """How many environments the hosted `BatchEnv` has; None for a single one."""
        return self._described().num_envs

    @property
    def process_id(self) -> int:
        """The process id of the worker."""
        return self._process.pid

    def step(self, action: Any, blocking: bool = True) -> Any:
        """Step what the worker hosts.

        Args:
            action: one action, or a nest of [num_envs, ...] where a batch is hosted.
            blocking: whether to wait; otherwise a promise is returned, which waits when
                it is called, and must be called before the next step.

        Raises:
            EnvironmentFault: The environment raised, the worker died or took too long.
            ValueError: The action has another shape.
        """
        single = self._described().num_envs is None
        leaves = nests.flatten(self.action_space, action)
        if single:
            leaves = [np.asarray(leaf)[np.newaxis] for leaf in leaves]
        for array, leaf in zip(self._arrays.action, leaves, strict=True):
            if np.shape(leaf) != array.shape:
                raise ValueError(
                    f"Got actions of shape {np.shape(leaf)} where {array.shape} belong "
                    f"by the action space {self.action_space}."
                )
        self.begin_batch_step(leaves)
        finish = self._finish_single_step if single else self._finish_step
        return finish() if blocking else finish

    def begin_batch_step(self, action_leaves: Sequence[np.ndarray]) -> None:
        """Step the hosted `BatchEnv` by the leaves [num_envs, ...] of actions."""
        for array, leaf in zip(self._arrays.action, action_leaves, strict=True):
            array[...] = leaf
        self._send(protocol.STEP)

    def finish_batch_step(self) -> tuple[TransitionArrays, dict[int, Any]]:
        """Wait for the step; return arrays that the next one overwrites, and infos.

        Raises:
            EnvironmentFault: As for `step`.
        """
        infos = self._receive("step") or {}
        return self._arrays, infos

    def reset(self, *args: Any, blocking: bool = True, **kwargs: Any) -> Any:
        """Reset what the worker hosts, with the arguments that its `reset` takes.

        Raises:
            EnvironmentFault: As for `step`.
        """
        self._described()
        self._send(protocol.request("reset", args, kwargs))
        return self._finish_reset() if blocking else self._finish_reset

    def call(self, name: str, *args: Any, blocking: bool = True, **kwargs: Any) -> Any:
        """Call a method of what the worker hosts; values are pickled.

        Raises:
            EnvironmentFault: As for `step`.
        """
        self._described()
        self._send(protocol.request("call", (name, *args), kwargs))

        def finish() -> Any:
            return self._receive(name)

        return finish() if blocking else finish

    def restart(self) -> None:
        """End the worker at once and start another by the same constructor."""
        self._end()
        self._connection.close()
        self._description = None
        self._start()

    def close(self, blocking: bool = True) -> Callable[[], None] | None:
        """Close what the worker hosts; it gets two seconds for it."""
        if self._end.alive:
            try:
                self._connection.send_bytes(protocol.CLOSE)
            except OSError:
                pass  # It has ended already.
        deadline = time.monotonic() + _CLOSE_SECONDS
        finish = functools.partial(self._finish_close, deadline)
        return finish() if blocking else finish

    def kill(self) -> None:
        """End the worker at once, from any thread; who waits for it gets a fault."""
        _kill_group(self._process)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._described()
        self._send(protocol.request("attribute", (name,), {}))
        found, value = self._receive(name)
        if not found:
            raise AttributeError(f"The environment in the worker has no {name!r}.")
        return value

    def _described(self) -> protocol.Description:
        if self._description is None:
            description = self._receive("construction")
            with os.fdopen(reduction.recv_handle(self._connection), "r+b") as file:
                memory = mmap.mmap(file.fileno(), 0)
            layout = Layout(*description[:2], description.num_envs or 1)
            self._arrays = TransitionArrays(layout, memory)
            self._description = description
            self._count = description.num_envs or 1
        return self._description

    def _finish_single_step(self) -> Any:
        info = self._receive("step") or {}
        arrays = self._arrays
        leaves = [leaf[0].copy() for leaf in arrays.final_observation]
        observation = nests.pack(self.observation_space, leaves)
        ends = bool(arrays.terminated[0]), bool(arrays.truncated[0])
        return observation, float(arrays.reward[0]), *ends, info

    def _finish_step(self) -> Any:
        arrays, infos = self.finish_batch_step()
        space = self.observation_space
        final = nests.pack(space, [leaf.copy() for leaf in arrays.final_observation])
        return (
            nests.pack(space, [leaf.copy() for leaf in arrays.observation]),
            arrays.reward.copy(),
            arrays.terminated.copy(),
            arrays.truncated.copy(),
            {
                "final_observation": final,
                "valid": np.ones(self._count, bool),
                "environments": infos,
            },
        )

    def _finish_reset(self) -> Any:
        answer = self._receive("reset")
        space, leaves = self.observation_space, self._arrays.observation
        if self.num_envs is None:
            return nests.pack(space, [leaf[0].copy() for leaf in leaves]), answer
        return nests.pack(space, [leaf[:answer].copy() for leaf in leaves])

    def _finish_close(self, deadline: float) -> None:
        if self._end.alive:
            self._exit_code(deadline)
            self._end()
            self._connection.close()

    def _exit_code(self, deadline: float) -> int:
        """Return how the worker ended; it is killed if it has not by the deadline."""
        try:
            return self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    def _send(self, message: bytes) -> None:
        try:
            self._connection.send_bytes(message)
        except OSError as error:
            raise self._death("before it was given work") from error

    def _receive(self, activity: str) -> Any:
        try:
            if not self._answers.poll(1000 * self._timeout):
                self.kill()
                raise self._fault(
                    f"did not finish {activity} within {self._timeout:g} seconds, and "
                    "the worker process was ended; the setting timeout allows more"
                )
            kind, value = protocol.parse_reply(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise self._death(f"during {activity}") from error
        if kind == protocol.FAULT:
            raise value
        return value

    def _death(self, moment: str) -> EnvironmentFault:
        # It may be slow to end, where an environment left a thread behind.
        code = self._exit_code(time.monotonic() + _CLOSE_SECONDS)
        if code < 0:
            code = signal.Signals(-code).name
        return self._fault(f"lost the worker process {moment}: it ended with {code}")

    def _fault(self, reason: str) -> EnvironmentFault:
        return EnvironmentFault(range(self._count), reason)


def _pickled(constructor: Callable[[], Any]) -> bytes:
    try:
        return cloudpickle.dumps(constructor)
    except Exception as error:
        raise UnpicklableConstructor(
            f"The constructor {constructor!r} can't be sent to a worker process: "
            f"{error}. Create what can't be pickled inside of the constructor."
        ) from error


def _start_worker(remote: Connection, core: int | None) -> tuple[subprocess.Popen, int]:
    """Start a worker; return it, and the file descriptor whose closing ends it."""
    lifeline_end, lifeline = os.pipe()
    descriptors = {"connection": remote.fileno(), "lifeline": lifeline_end}
    arguments = json.dumps({"path": sys.path, "worker": descriptors | {"core": core}})
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _WORKER_PROGRAM, arguments],
            pass_fds=tuple(descriptors.values()),
            stdin=subprocess.DEVNULL,
            # Out of Ctrl-C's reach, and ended together with its own children.
            process_group=0,
        )
    finally:
        remote.close()
        os.close(lifeline_end)
    return process, lifeline


def _end_worker(process: subprocess.Popen, lifeline: int) -> None:
    os.close(lifeline)
    _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen) -> None:
    """End a worker and what its environments have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
