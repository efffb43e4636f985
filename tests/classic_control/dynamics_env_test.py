"""Array programs as environments."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.environments import classic_control
from agents.environments.dynamics_env import DynamicsEnv

SEED = tf.constant([1, 2])


class Countdown:
    """Starts at a random number in [0, 1) and adds 1; terminates above a limit."""

    observation_space = gymnasium.spaces.Box(0, np.inf, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    max_length = 100

    def __init__(self, limit):
        """Terminate when the number is above the limit."""
        self._limit = limit

    def start(self, seed, count):
        """Draw the numbers."""
        return tf.random.stateless_uniform([count], seed)

    def step(self, state, action):
        """Add 1, earn the action."""
        state = state + 1
        return state, tf.cast(action, tf.float32), state > self._limit

    def observe(self, state):
        """Return the number."""
        return state[:, None]


def play(env, steps):
    """Step with action 1; return the time steps stacked."""
    state, _ = env.reset(SEED)
    rows = []
    for _ in range(steps):
        state, row = env.step(state, tf.ones([env.num_envs], tf.int64))
        rows.append(row)
    return tf.nest.map_structure(lambda *leaves: np.stack(leaves), *rows)


class DynamicsEnvTest(unittest.TestCase):
    """Ends, limits, starts."""

    def test_an_end_hands_over_the_last_and_the_next_first_observation(self):
        rows = play(DynamicsEnv(Countdown(3), 2, None), 8)
        steps = np.flatnonzero(rows.terminated[:, 0])
        np.testing.assert_array_equal(steps, [2, 5])
        self.assertFalse(rows.truncated.any())
        self.assertTrue((rows.final_observation[steps] > 3).all())
        self.assertTrue((rows.observation[steps] < 1).all())
        others = ~rows.terminated
        np.testing.assert_array_equal(
            rows.observation[others], rows.final_observation[others]
        )

    def test_a_limit_truncates(self):
        rows = play(DynamicsEnv(Countdown(50), 2, 4), 9)
        np.testing.assert_array_equal(np.flatnonzero(rows.truncated[:, 0]), [3, 7])
        self.assertFalse(rows.terminated.any())
        self.assertTrue((rows.observation[3] < 1).all())

    def test_each_episode_of_each_environment_has_a_start_of_its_own(self):
        rows = play(DynamicsEnv(Countdown(0), 3, None), 5)
        self.assertEqual(len(np.unique(rows.observation)), 15)

    def test_the_seed_decides(self):
        env = DynamicsEnv(Countdown(3), 2, None)
        first, second = (env.reset(seed)[1] for seed in ([1, 2], [1, 3]))
        np.testing.assert_array_equal(env.reset([1, 2])[1], first)
        self.assertFalse((first == second).numpy().any())

    def test_compiled_and_uncompiled_agree(self):
        """5 steps from one state, before any new start, which XLA draws otherwise."""
        for name in classic_control.IDS:
            env = DynamicsEnv(classic_control.dynamics(name), 4, None)
            state, _ = env.reset(SEED)
            action = tf.zeros([4, *env.action_space.shape], env.action_space.dtype)

            def run(state, env=env, action=action):
                for _ in range(5):
                    state, row = env.step(state, action)
                return row.final_observation, row.reward

            results = [
                tf.function(run, jit_compile=jit)(state) for jit in (True, False)
            ]
            for first, second in zip(*results, strict=True):
                np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
