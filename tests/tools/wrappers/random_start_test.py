"""Tests of RandomStart."""

import unittest

from agents.tools.wrappers.random_start import RandomStart
from tests import environments


def starts(env, episodes=60):
    """Return how many steps were taken before each of some episodes."""
    return [int(env.reset()[0][0]) for _ in range(episodes)]


class RandomStartTest(unittest.TestCase):
    """Episodes start after some random actions."""

    def test_takes_0_to_max_steps(self):
        env = RandomStart(environments.Counter(10), 3)
        env.reset(seed=0)
        self.assertEqual(set(starts(env)), {0, 1, 2, 3})

    def test_starts_over_where_the_episode_ends(self):
        env = RandomStart(environments.Counter(2), 5)
        env.reset(seed=0)
        self.assertEqual(set(starts(env)), {0, 1})

    def test_follows_from_the_seed(self):
        env = RandomStart(environments.Counter(10), 5)
        histories = []
        for seed in (1, 2, 1):
            env.reset(seed=seed)
            histories.append(starts(env))
        self.assertEqual(histories[0], histories[2])
        self.assertNotEqual(histories[0], histories[1])

    def test_actions_follow_from_the_seed(self):
        env = RandomStart(environments.KeepsAction(), 9)
        first, other, again = [env.reset(seed=seed)[0] for seed in (3, 4, 3)]
        self.assertEqual(first.tolist(), again.tolist())
        self.assertNotEqual(first.tolist(), other.tolist())

    def test_needs_at_least_one_step(self):
        with self.assertRaisesRegex(ValueError, "at least 1, got 0"):
            RandomStart(environments.Counter(), 0)
