"""Environments that fail, each in one way, named by what they do."""

import functools
import os
import shutil
import signal
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

_MINUTE = 60


class Faulty(gymnasium.Env):
    """Draws numbers in short episodes, until something goes wrong.

    The observation is [2] in [0, 1), the reward 1 if the action was 1.
    """

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(
        self,
        in_constructor: Callable[[], Any] | None = None,
        in_reset: Callable[[], Any] | None = None,
        in_step: Callable[[], Any] | None = None,
        in_close: Callable[[], Any] | None = None,
        instead: dict[int, Any] | None = None,
        at_step: int = 100,
        length: int = 20,
    ):
        """Choose what happens.

        Args:
            in_constructor: called at once.
            in_reset: called in the first reset after `at_step`.
            in_step: called in step `at_step` of this object's life.
            in_close: called when it is closed.
            instead: what that step returns, by its place in the tuple.
            at_step: when it happens.
            length: steps of an episode; 0: without an end.
        """
        self._in_reset, self._in_step, self._in_close = in_reset, in_step, in_close
        self._instead = instead or {}
        self._at_step, self._length = at_step, length
        self._steps = self._count = 0
        if in_constructor:
            in_constructor()

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=kwargs.get("seed"))
        if self._in_reset and self._steps >= self._at_step:
            self._in_reset()
        self._count = 0
        return self.np_random.random(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Draw."""
        self._steps += 1
        self._count += 1
        observation = self.np_random.random(2, np.float32)
        ended = self._count == self._length
        outcome = [observation, float(action), False, ended, {}]
        if self._steps == self._at_step:
            if self._in_step:
                self._in_step()
            for place, value in self._instead.items():
                outcome[place] = value
        return tuple(outcome)

    def render(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """End."""
        if self._in_close:
            self._in_close()


class Category(Faulty):
    """Observes one of three categories."""

    observation_space = gymnasium.spaces.Discrete(3)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(**kwargs)
        return 1, {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Observe what there is not, when the time has come."""
        outcome = super().step(action)
        return 3 if self._steps == self._at_step else 1, *outcome[1:]


class Bounded(Faulty):
    """Observes numbers that its space limits."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,))


class OfAnotherSize(Faulty):
    """Every second one that a process makes observes another shape."""

    made = 0

    def __init__(self, **kwargs: Any):
        """Take turns."""
        super().__init__(**kwargs)
        OfAnotherSize.made += 1
        if OfAnotherSize.made % 2 == 0:
            self.observation_space = gymnasium.spaces.Box(-1, 1, (3,))


class ChangesInPlace(Faulty):
    """Returns the same array each time, and changes it."""

    def __init__(self, **kwargs: Any):
        """Make the array."""
        super().__init__(**kwargs)
        self._array = np.zeros(2, np.float32)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Draw into the array."""
        observation, *outcome = super().step(action)
        self._array[...] = observation
        return self._array, *outcome


class Large(Faulty):
    """Observes a megabyte."""

    observation_space = gymnasium.spaces.Box(0, 255, (512, 512, 4), np.uint8)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(**kwargs)
        return self._image(), {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Draw."""
        return self._image(), *super().step(action)[1:]

    def _image(self) -> np.ndarray:
        return self.np_random.integers(0, 256, self.observation_space.shape, np.uint8)


def _raise() -> None:
    raise ValueError("something went wrong")


def _exit() -> None:
    os._exit(7)  # pylint: disable=protected-access


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _hang() -> None:
    print("It hangs.", flush=True)
    time.sleep(_MINUTE)


def _at_random() -> None:
    """Do any of these, or nothing, as chance will have it: 1 of 300."""
    if (chance := int.from_bytes(os.urandom(2)) / 2**16 * 300) < 1:
        (_raise, _exit, _kill, _hang)[int(4 * chance)]()


class AtRandom(Faulty):
    """Fails in any way in any step, once in 300 steps."""

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Draw, if all goes well."""
        _at_random()
        return super().step(action)


def remove_run_directory() -> Faulty:
    """Make one that removes the directory named by `SOAK_LOGDIR` in a step."""
    logdir = os.environ["SOAK_LOGDIR"]
    return Faulty(in_step=lambda: shutil.rmtree(logdir, ignore_errors=True))


raises_in_constructor = functools.partial(Faulty, in_constructor=_raise)
raises_in_reset = functools.partial(Faulty, in_reset=_raise)
raises_in_step = functools.partial(Faulty, in_step=_raise)
exits = functools.partial(Faulty, in_step=_exit)
is_killed = functools.partial(Faulty, in_step=_kill)
hangs_in_constructor = functools.partial(Faulty, in_constructor=_hang)
hangs_in_reset = functools.partial(Faulty, in_reset=_hang)
hangs_in_step = functools.partial(Faulty, in_step=_hang)
hangs_in_close = functools.partial(Faulty, in_close=_hang)
never_ends = functools.partial(Faulty, length=0)
length_1 = functools.partial(Faulty, length=1)

nan_observation = functools.partial(Faulty, instead={0: np.array([0, np.nan])})
infinite_reward = functools.partial(Faulty, instead={1: np.inf})
large_reward = functools.partial(Faulty, instead={1: 1e8})
another_shape = functools.partial(Faulty, instead={0: np.zeros(3)})
another_type = functools.partial(Faulty, instead={0: "left"})
array_reward = functools.partial(Faulty, instead={1: np.zeros(2)})
text_flag = functools.partial(Faulty, instead={2: "no"})
out_of_bounds = functools.partial(Bounded, instead={0: np.array([0.5, 1.5])})
