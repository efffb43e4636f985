"""Tests of CacheSpaces."""

import unittest

import gymnasium

from agents.tools.wrappers.cache_spaces import CacheSpaces
from tests.environments import Tiny


class Anew(Tiny):
    """Builds its observation space at each access."""

    @property
    def observation_space(self) -> gymnasium.Space:
        """A space that is equal but not the same."""
        return gymnasium.spaces.Box(0, 1, (1,))


class CacheSpacesTest(unittest.TestCase):
    """Both spaces are asked for once."""

    def test_the_same_at_each_access(self):
        env = Anew()
        self.assertIsNot(env.observation_space, env.observation_space)
        cached = CacheSpaces(env)
        self.assertIs(cached.observation_space, cached.observation_space)
        self.assertIs(cached.action_space, cached.action_space)
        self.assertEqual(cached.observation_space, env.observation_space)
        self.assertEqual(cached.action_space, env.action_space)
