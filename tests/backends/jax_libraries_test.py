"""gymnax and Brax as environments."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.environments import classic_control, jax_env, jax_libraries

SEED = tf.constant([1, 2])


class GymnaxTest(unittest.TestCase):
    """Against the same tasks as TensorFlow programs."""

    def agree(self, name, state_of, tolerance):
        """Let both step from the same states by the same actions, 200 times."""
        env = jax_env.make(f"gymnax:{name}", 8, None)
        dynamics = classic_control.dynamics(name)
        self.assertEqual(env.action_space, dynamics.action_space)
        np.testing.assert_array_equal(
            env.observation_space.high, dynamics.observation_space.high
        )
        dynamics_step = tf.function(dynamics.step, autograph=False)
        env.action_space.seed(0)
        state, observation = env.reset(SEED)
        ends = 0
        for _ in range(200):
            action = np.stack([env.action_space.sample() for _ in range(8)])
            physics, reward, terminated = dynamics_step(
                state_of(observation), tf.constant(action)
            )
            state, row = env.step(state, tf.constant(action))
            np.testing.assert_allclose(
                row.final_observation, dynamics.observe(physics), atol=tolerance
            )
            np.testing.assert_allclose(row.reward, reward, atol=tolerance)
            np.testing.assert_array_equal(row.terminated, terminated)
            observation = row.observation
            ends += np.sum(row.terminated)
        return ends

    def test_cart_pole_is_the_task_of_gymnasium(self):
        ends = self.agree("CartPole-v1", tf.identity, 1e-5)
        self.assertGreater(ends, 20)

    def test_pendulum_is_the_task_of_gymnasium(self):
        def state_of(observation):
            cosine, sine, speed = tf.unstack(observation, axis=-1)
            return tf.stack([tf.atan2(sine, cosine), speed], -1)

        self.assertEqual(self.agree("Pendulum-v1", state_of, 1e-3), 0)

    def test_the_limit_of_its_parameters_truncates(self):
        task = jax_libraries.make("gymnax:Pendulum-v1")
        self.assertEqual(task.max_length, 200)
        env = jax_env.make("gymnax:Pendulum-v1", 2, 2)
        state, _ = env.reset(SEED)
        for expected in (False, True, False):
            state, row = env.step(state, tf.zeros([2, 1]))
            np.testing.assert_array_equal(row.truncated, [expected] * 2)
            self.assertFalse(row.terminated.numpy().any())

    def test_observations_are_as_the_space_says(self):
        for name, dtype in (
            ("Catch-bsuite", tf.int32),
            ("FourRooms-misc", tf.float32),
            ("FrozenLake-misc", tf.int64),
        ):
            env = jax_env.make(f"gymnax:{name}", 2, None)
            _, observation = env.reset(SEED)
            self.assertEqual(observation.dtype, dtype)
            self.assertTrue(env.observation_space.contains(observation[0].numpy()))


class BraxTest(unittest.TestCase):
    """The wrapping of its states."""

    def test_ant_has_spaces_and_a_limit(self):
        task = jax_libraries.make("brax:ant")
        self.assertEqual(task.observation_space.shape, (27,))
        self.assertEqual(task.action_space, gymnasium.spaces.Box(-1, 1, (8,)))
        self.assertEqual(task.max_length, 1000)

    def test_a_push_moves_a_cart(self):
        env = jax_env.make("brax:inverted_pendulum", 2, None)

        @tf.function(jit_compile=True, autograph=False)
        def play():
            state, first = env.reset(SEED)
            return first, env.step(state, tf.constant([[1.0], [0.0]]))[1]

        first, row = play()
        self.assertEqual(first.shape, (2, 4))
        self.assertTrue(np.isfinite(row.observation).all())
        # Position, angle and their speeds: only the first cart is pushed.
        self.assertGreater(row.observation[0, 2] - first[0, 2], 0.1)
        self.assertLess(abs(row.observation[1, 2] - first[1, 2]), 0.1)
        np.testing.assert_array_equal(row.reward, [1, 1])
        self.assertFalse((row.terminated | row.truncated).numpy().any())


if __name__ == "__main__":
    unittest.main()
