"""Observations as differences."""

from typing import Any

import gymnasium
import numpy as np


class FrameDelta(gymnasium.Wrapper):
    """Observes the change since the last frame; the first frame of an episode is 0.

    The space doubles its range: each dimension of [low, high] becomes
    [low - high, high - low], as float32.
    """

    def __init__(self, env: gymnasium.Env):
        """Wrap an environment with a Box observation space.

        Raises:
            TypeError: The observation space is no Box.
        """
        super().__init__(env)
        space = env.observation_space
        if not isinstance(space, gymnasium.spaces.Box):
            raise TypeError(
                f"FrameDelta needs a Box observation space, but got {space}."
            )
        low, high = space.low.astype(np.float32), space.high.astype(np.float32)
        self.observation_space = gymnasium.spaces.Box(low - high, high - low)
        self._last = np.zeros(space.shape, np.float32)

    def reset(self, **kwargs: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode with a difference of 0."""
        observation, info = self.env.reset(**kwargs)
        self._last = np.array(observation, np.float32)
        return np.zeros_like(self._last), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        """Take a step and observe what changed."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        frame = np.array(observation, np.float32)
        delta, self._last = frame - self._last, frame
        return delta, reward, terminated, truncated, info
