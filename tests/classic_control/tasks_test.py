"""TensorFlow's classic control against Gymnasium's own."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.environments import classic_control
from agents.parts.settings import SettingError

SEED = tf.constant([1, 2])


class TasksTest(unittest.TestCase):
    """Every task."""

    def test_spaces_and_limits_are_those_of_gymnasium(self):
        for name in classic_control.IDS:
            with self.subTest(name), gymnasium.make(name) as theirs:
                ours = classic_control.dynamics(name)
                self.assertEqual(ours.observation_space, theirs.observation_space)
                self.assertEqual(ours.action_space, theirs.action_space)
                self.assertEqual(ours.max_length, theirs.spec.max_episode_steps)

    def test_1000_steps_agree_within_rounding_and_end_on_the_same_steps(self):
        """From the same states by the same actions, with Gymnasium's resets."""
        for name in classic_control.IDS:
            with self.subTest(name), gymnasium.make(name) as theirs:
                self.compare(classic_control.dynamics(name), theirs)

    def compare(self, ours, theirs):
        """Step both from the same states."""
        theirs.action_space.seed(0)
        theirs.reset(seed=0)
        ends = 0
        step = tf.function(ours.step)
        for _ in range(1000):
            state = tf.constant([theirs.unwrapped.state], tf.float32)
            action = theirs.action_space.sample()
            state, reward, terminated = step(state, tf.constant(np.array(action)[None]))
            observation, *expected, truncated, _ = theirs.step(action)
            np.testing.assert_allclose(ours.observe(state)[0], observation, atol=5e-6)
            np.testing.assert_allclose(reward[0], expected[0], rtol=1e-5, atol=5e-5)
            self.assertEqual(bool(terminated[0]), expected[1])
            if expected[1] or truncated:
                theirs.reset()
                ends += 1
        self.assertGreater(ends, 0)

    def test_pendulum_rewards_a_worked_example(self):
        """Hanging, speed 2, torque 1: -(pi^2 + 0.1 * 4 + 0.001)."""
        task = classic_control.dynamics("Pendulum-v1")
        _, reward, _ = task.step(tf.constant([[np.pi, 2.0]]), tf.constant([[1.0]]))
        self.assertAlmostEqual(float(reward[0]), -(np.pi**2) - 0.401, 4)

    def test_the_goal_ends_an_episode(self):
        """The last step before each end, which random actions rarely reach."""
        for name, state, action, reward in (
            ("CartPole-v1", [2.39, 5.0, 0.0, 0.0], 1, 1.0),
            ("CartPole-v1", [0.0, 0.0, 0.2, 5.0], 1, 1.0),
            ("MountainCar-v0", [0.49, 0.06], 2, -1.0),
            ("MountainCarContinuous-v0", [0.44, 0.06], [1.0], 99.9),
            ("Acrobot-v1", [np.pi, 0.0, 0.0, 0.0], 1, 0.0),
        ):
            task = classic_control.dynamics(name)
            _, earned, terminated = task.step(
                tf.constant([state], tf.float32),
                tf.constant([action], task.action_space.dtype),
            )
            self.assertTrue(bool(terminated[0]), name)
            self.assertAlmostEqual(float(earned[0]), reward, 4)

    def test_starts_fill_the_range_of_gymnasium_s(self):
        for name in classic_control.IDS:
            with self.subTest(name), gymnasium.make(name) as theirs:
                starts = classic_control.dynamics(name).start(SEED, 4000).numpy()
                expected = []
                for seed in range(2000):
                    theirs.reset(seed=seed)
                    expected.append(theirs.unwrapped.state)
                spread = np.ptp(expected, 0)
                for of in (np.min, np.max, np.mean):
                    difference = np.abs(of(starts, 0) - of(expected, 0))
                    self.assertTrue((difference <= 0.05 * spread + 1e-6).all(), name)

    def test_an_unknown_id_is_an_error_with_the_nearest(self):
        with self.assertRaisesRegex(SettingError, "did you mean CartPole-v1"):
            classic_control.dynamics("CartPole-v0")


if __name__ == "__main__":
    unittest.main()
