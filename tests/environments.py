"""Tiny environments whose numbers are known beforehand, free of TensorFlow.

Each is registered under its class name, such as `tests/Counter-v0`, and is made by
`--set=env=tests.environments:tests/Counter-v0`.
"""

import math
import os
import sys
import threading
import time
from typing import Any

import gymnasium
import numpy as np


class Tiny(gymnasium.Env):
    """Observes the number of steps in the episode; reward 1; never ends by itself.

    Attributes:
        count: steps since the reset.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    observation_space = gymnasium.spaces.Box(0, math.inf, (1,))

    def __init__(
        self,
        render_mode: str | None = None,
        action_space: gymnasium.Space | None = None,
    ):
        """Make the environment; the default actions are Discrete(2)."""
        self.render_mode = render_mode
        self.action_space = action_space or gymnasium.spaces.Discrete(2)
        self.count = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start at 0."""
        super().reset(seed=seed)
        self.count = 0
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count one step."""
        del action
        self.count += 1
        return self.observe(), 1.0, False, False, {}

    def render(self) -> np.ndarray:
        """Return a black image with a white bar that moves with each step."""
        image = np.zeros((64, 64, 3), np.uint8)
        column = 4 * self.count % 64
        image[:, column : column + 4] = 255
        return image

    def observe(self) -> Any:
        """Return the observation of the current state."""
        return np.array([self.count], np.float32)

    def cores(self) -> set[int]:
        """Return the processor cores that this process may use."""
        return os.sched_getaffinity(0)

    def is_imported(self, module: str) -> bool:
        """Return whether a module is imported where this environment lives."""
        return module in sys.modules


class Counter(Tiny):
    """Terminates after some steps: rewards 1, observations 0, 1, 2, ..."""

    def __init__(self, steps: int = 3, **kwargs: Any):
        """Let an episode have that many steps."""
        super().__init__(**kwargs)
        self.steps = steps

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count one step; what it tells is `{"count": ...}`."""
        observation, reward, _, truncated, _ = super().step(action)
        terminated = self.count == self.steps
        return observation, reward, terminated, truncated, {"count": self.count}


class OneState(Tiny):
    """Observes 1 always, earns 1 in each step, never ends by itself."""

    def observe(self) -> np.ndarray:
        """Return 1."""
        return np.ones(1, np.float32)


class Draws(Counter):
    """Observes a number drawn from its generator at each reset and step."""

    def observe(self) -> np.ndarray:
        """Draw from [0, 1)."""
        return self.np_random.random(1, np.float32)


class Crash(Tiny):
    """Raises `ValueError("crash in step 2")` in a step, or in the reset if it is 0."""

    def __init__(self, at_step: int = 2, **kwargs: Any):
        """Choose the step of the episode."""
        super().__init__(**kwargs)
        self.at_step = at_step

    def observe(self) -> np.ndarray:
        """Raise in its time.

        Raises:
            ValueError: The step has come.
        """
        if self.count == self.at_step:
            raise ValueError(f"crash in step {self.count}")
        return super().observe()


class CrashInConstructor(Tiny):
    """Raises `ValueError("crash in constructor")` when it is made."""

    def __init__(self, **kwargs: Any):
        """Raise.

        Raises:
            ValueError: Always.
        """
        super().__init__(**kwargs)
        raise ValueError("crash in constructor")


class Sleep(Tiny):
    """Sleeps in its constructor, in each reset or in each step."""

    def __init__(self, where: str = "step", seconds: float = 2.0, **kwargs: Any):
        """Choose one of "constructor", "reset" and "step"."""
        super().__init__(**kwargs)
        self.where = where
        self.seconds = seconds
        self._sleep("constructor")

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Start at 0."""
        self._sleep("reset")
        return super().reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count one step."""
        self._sleep("step")
        return super().step(action)

    def _sleep(self, where: str) -> None:
        if where == self.where:
            time.sleep(self.seconds)


class Exit(Tiny):
    """Ends its process with exit code 7 in a step."""

    def __init__(self, at_step: int = 2, **kwargs: Any):
        """Choose the step of the episode."""
        super().__init__(**kwargs)
        self.at_step = at_step

    def observe(self) -> np.ndarray:
        """End in its time."""
        if self.count == self.at_step:
            os._exit(7)  # pylint: disable=protected-access
        return super().observe()


class SlowExit(Tiny):
    """Asks its process to end in its first step, but leaves a thread that holds it."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Exit.

        Raises:
            SystemExit: Always.
        """
        threading.Thread(target=time.sleep, args=(60,)).start()
        sys.exit(7)


class BadReward(Tiny):
    """Gives a reward of choice in a step, otherwise 1."""

    def __init__(self, reward: Any = math.nan, at_step: int = 2, **kwargs: Any):
        """Choose the reward and the step of the episode."""
        super().__init__(**kwargs)
        self.reward = reward
        self.at_step = at_step

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Count one step."""
        observation, reward, *rest = super().step(action)
        return observation, self.reward if self.count == self.at_step else reward, *rest


class BadObservation(Tiny):
    """Gives an observation of choice in a step, or in the reset if it is 0."""

    def __init__(self, observation: Any = (math.nan,), at_step: int = 2, **kwargs: Any):
        """Choose the observation and the step of the episode."""
        super().__init__(**kwargs)
        self.observation = observation
        self.at_step = at_step

    def observe(self) -> Any:
        """Return the observation of the current state."""
        return self.observation if self.count == self.at_step else super().observe()


class Nested(Tiny):
    """Observes the count c as {"image": 2x2 of c, "pair": (c % 5, c / 2)}.

    `image` is a uint8 image, and the pair a Discrete(5) and a Box of shape ().
    """

    observation_space = gymnasium.spaces.Dict(
        {
            "pair": gymnasium.spaces.Tuple(
                [gymnasium.spaces.Discrete(5), gymnasium.spaces.Box(0, 100, ())]
            ),
            "image": gymnasium.spaces.Box(0, 255, (2, 2), np.uint8),
        }
    )

    def observe(self) -> dict[str, Any]:
        """Return the observation of the current state."""
        image = np.full((2, 2), self.count, np.uint8)
        return {"pair": (self.count % 5, self.count / 2), "image": image}


class MutatesObservation(Counter):
    """A `Counter` that gives the same array each time, changed in place."""

    def __init__(self, **kwargs: Any):
        """Make the one array."""
        super().__init__(**kwargs)
        self._observation = np.zeros(1, np.float32)

    def observe(self) -> np.ndarray:
        """Return the array."""
        self._observation[0] = self.count
        return self._observation


class KeepsAction(Tiny):
    """Keeps its last action without a copy and observes it after the next step.

    Then it spoils it, as an environment may that clips its action in place.
    """

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))

    def __init__(self, **kwargs: Any):
        """Make the environment, with actions in a Box of shape (2,)."""
        super().__init__(action_space=gymnasium.spaces.Box(-1, 1, (2,)), **kwargs)
        self._observation = self._action = np.zeros(2, np.float32)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count one step."""
        self._observation = self._action.copy()
        self._action[...] = -1
        self._action = action
        return super().step(action)

    def observe(self) -> np.ndarray:
        """Return the last but one action."""
        return self._observation


for _class in (
    Counter,
    OneState,
    Draws,
    Crash,
    CrashInConstructor,
    Sleep,
    Exit,
    SlowExit,
    BadReward,
    BadObservation,
    Nested,
    MutatesObservation,
    KeepsAction,
):
    gymnasium.register(f"tests/{_class.__name__}-v0", _class)
