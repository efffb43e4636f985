"""Spaces that are asked for once."""

from typing import Any

import gymnasium


class CacheSpaces(gymnasium.Wrapper):
    """Keeps both spaces, for environments that build them anew at each access."""

    def __init__(self, env: gymnasium.Env):
        """Ask the environment for its two spaces."""
        super().__init__(env)
        self.observation_space: gymnasium.Space[Any] = env.observation_space
        self.action_space: gymnasium.Space[Any] = env.action_space
