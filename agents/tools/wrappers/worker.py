"""The process that hosts environments. It must never import TensorFlow."""

import contextlib
import mmap
import os
import pickle
import select
import signal
import tempfile
import threading
import time
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from agents.parts import nests
from agents.parts.settings import SettingError
from agents.tools.batch_env import BatchEnv
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers import protocol
from agents.tools.wrappers.transition_arrays import Layout, TransitionArrays

# A processor that sleeps takes long to wake: a worker stays awake for longer than the
# owner usually takes between two steps, and lets others run meanwhile.
_AWAKE_SECONDS = 1e-3


def main(connection: int, lifeline: int, core: int | None) -> None:
    """Serve the owner of a connection until it says close or is gone.

    Args:
        connection: file descriptor of the messages.
        lifeline: file descriptor that is closed at the other end when the owner ends.
        core: processor core to stay on; None: any.
    """
    if core is not None:
        # Not every system can, and none must.
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setaffinity(0, {core})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Some send these to all processes of a job; a handler, unlike SIG_IGN, is not
    # passed on to what environments start.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    threading.Thread(target=_end_with_owner, args=(lifeline,), daemon=True).start()
    channel = Connection(connection)
    try:
        host = _construct(channel)
        if host is not None:
            host.serve()
    except (EOFError, OSError):
        pass  # The owner is gone.


def _end_with_owner(lifeline: int) -> None:
    os.read(lifeline, 1)
    # With all that the environments have started.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _construct(channel: Connection) -> "_Host | None":
    payload, with_infos = channel.recv()
    try:
        host = _Host(channel, pickle.loads(payload)(), with_infos)
    except SettingError as error:
        channel.send_bytes(protocol.reply(protocol.FAULT, error))
    except BaseException as error:  # pylint: disable=broad-exception-caught
        fault = EnvironmentFault.of([0], "could not be constructed", error)
        channel.send_bytes(protocol.reply(protocol.FAULT, fault))
    else:
        return host
    return None


class _Host:
    """Hosts what a constructor built: a single environment or a batch."""

    def __init__(self, channel: Connection, env: Any, with_infos: bool):
        self._channel = channel
        self._env = env
        self._with_infos = with_infos
        self._batched = isinstance(env, BatchEnv)
        self._description = protocol.Description(
            env.observation_space,
            env.action_space,
            env.num_envs if self._batched else None,
        )
        layout = Layout(*self._description[:2], self._description.num_envs or 1)
        # A file without a name ends with the last process that holds it.
        directory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self._file = tempfile.TemporaryFile(dir=directory)
        self._file.truncate(layout.size)
        memory = mmap.mmap(self._file.fileno(), 0)
        self._arrays = TransitionArrays(layout, memory)

    def serve(self) -> None:
        """Describe the environment, then answer until told to close."""
        self._channel.send_bytes(protocol.reply(protocol.ANSWER, self._description))
        reduction.send_handle(self._channel, self._file.fileno(), os.getppid())
        self._file.close()
        arrivals = select.poll()
        arrivals.register(self._channel, select.POLLIN)
        while True:
            deadline = time.perf_counter() + _AWAKE_SECONDS
            while not arrivals.poll(0) and time.perf_counter() < deadline:
                os.sched_yield()
            message = self._channel.recv_bytes()
            if message == protocol.CLOSE:
                self._env.close()
                return
            self._channel.send_bytes(self._answer(message))

    def _answer(self, message: bytes) -> bytes:
        try:
            if message == protocol.STEP:
                value = self._step()
                if value is None:
                    return protocol.DONE
            else:
                method, args, kwargs = pickle.loads(message)
                value = getattr(self, f"_{method}")(*args, **kwargs)
            return protocol.reply(protocol.ANSWER, value)
        except BaseException as error:  # pylint: disable=broad-exception-caught
            fault = EnvironmentFault.of([0], "raised", error)
            return protocol.reply(protocol.FAULT, fault)

    def _step(self) -> Any:
        arrays = self._arrays
        # A copy, as an environment may keep its action.
        leaves = [leaf.copy() for leaf in arrays.action]
        if self._batched:
            info, _ = self._env.step_into(arrays, leaves)
        else:
            action = nests.pack(self._env.action_space, [leaf[0] for leaf in leaves])
            observation, *outcome, info = self._env.step(action)
            with np.errstate(over="ignore", invalid="ignore"):
                arrays.write_observation(arrays.final_observation, 0, observation)
                arrays.write_outcome(0, *outcome)
        return info if info and self._with_infos else None

    def _reset(self, *args: Any, **kwargs: Any) -> Any:
        if not self._batched:
            observation, info = self._env.reset(*args, **kwargs)
            with np.errstate(over="ignore", invalid="ignore"):
                self._arrays.write_observation(self._arrays.observation, 0, observation)
            return info if self._with_infos else {}
        observation = self._env.reset(*args, **kwargs)
        count = len(nests.flatten(self._env.observation_space, observation)[0])
        self._copy([array[:count] for array in self._arrays.observation], observation)
        return count

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._env, name)(*args, **kwargs)

    def _attribute(self, name: str) -> tuple[bool, Any]:
        return hasattr(self._env, name), getattr(self._env, name, None)

    def _copy(self, arrays: list[np.ndarray], observation: Any) -> None:
        leaves = nests.flatten(self._env.observation_space, observation)
        for array, leaf in zip(arrays, leaves, strict=True):
            array[...] = leaf
