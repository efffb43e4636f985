"""Acting and stepping in the graph, on environments whose numbers are known."""

import functools
import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Decision, TimeStep
from agents.tools import constructors, simulation
from agents.tools.in_graph_batch_env import InGraphBatchEnv
from agents.tools.in_graph_env import InGraphEnv
from tests import environments
from tests.learner import Learner, LearnerSettings

SEED = tf.constant([3, 4])


def counters(*lengths, limit=None):
    """Make a batch of counters in this process."""

    def make(steps):
        env = environments.Counter(steps)
        return gymnasium.wrappers.TimeLimit(env, limit) if limit else env

    makers = [functools.partial(make, steps) for steps in lengths]
    return InGraphBatchEnv(constructors.make_batch(makers))


def simulate(env, steps, training=True, calls=1):
    """Simulate in a graph; return the outcome of the last call."""
    learner = Learner(LearnerSettings(), env)
    run = tf.function(
        lambda carry: simulation.simulate(env, learner, carry, steps, training)
    )
    carry = simulation.start(env, learner, SEED)
    for _ in range(calls):
        carry, trajectory, episodes = run(carry)
    return carry, trajectory, episodes


class GhostRows(InGraphEnv):
    """Ends after 3 steps and resets in a step of its own, which is no transition."""

    num_envs = 1
    observation_space = gymnasium.spaces.Box(0, 9, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    compilable = True

    def reset(self, seed):
        """Start at 0."""
        del seed
        return tf.zeros([1]), tf.zeros([1, 1])

    def step(self, state, action):
        """Count, and start over in the step after the third."""
        del action
        ghost = state == 3
        state = tf.where(ghost, 0.0, state + 1)
        observation = state[:, None]
        return state, TimeStep(
            observation=observation,
            reward=tf.where(ghost, np.nan, 1.0),
            terminated=state == 3,
            truncated=tf.constant([False]),
            final_observation=observation,
            valid=~ghost,
        )


class LosesAnEpisode(GhostRows):
    """The episode is lost in the second step: its worker was started again."""

    def step(self, state, action):
        """Count, and start over in the step after the first."""
        state, row = super().step(state, action)
        lost = state == 2
        state = tf.where(lost, 0.0, state)
        return state, row._replace(
            observation=state[:, None], truncated=lost, valid=~lost
        )


class SimulateTest(unittest.TestCase):
    """Counters that end after 3 and 2 steps."""

    def test_rows_hold_what_was_acted_on_and_what_came_of_it(self):
        _, trajectory, _ = simulate(counters(3, 2), 4)
        observation = trajectory.observation[..., 0]
        np.testing.assert_array_equal(observation, [[0, 0], [1, 1], [2, 0], [0, 1]])
        final = trajectory.final_observation[..., 0]
        np.testing.assert_array_equal(final, [[1, 1], [2, 2], [3, 1], [1, 2]])
        terminated = [[0, 0], [0, 1], [1, 0], [0, 1]]
        np.testing.assert_array_equal(trajectory.terminated, np.array(terminated, bool))
        self.assertFalse(np.any(trajectory.truncated))
        self.assertTrue(np.all(trajectory.valid))
        np.testing.assert_array_equal(trajectory.reward, np.ones([4, 2]))

    def test_the_state_is_the_one_before_the_step_and_starts_anew(self):
        _, trajectory, _ = simulate(counters(3, 2), 4)
        np.testing.assert_array_equal(
            trajectory.state, [[0, 0], [1, 1], [2, 0], [0, 1]]
        )

    def test_scores_are_sums_of_rewards_3_3_3(self):
        _, _, episodes = simulate(counters(3), 9)
        ended = episodes.ended.numpy()
        self.assertEqual(episodes.score.numpy()[ended].tolist(), [3, 3, 3])
        self.assertEqual(episodes.length.numpy()[ended].tolist(), [3, 3, 3])

    def test_episodes_go_on_in_the_next_simulation(self):
        _, _, episodes = simulate(counters(3), 2, calls=2)
        self.assertEqual(episodes.ended.numpy()[:, 0].tolist(), [True, False])
        self.assertEqual(float(episodes.score[0, 0]), 3)

    def test_a_limit_truncates(self):
        _, trajectory, episodes = simulate(counters(100, limit=5), 10)
        rows = [4, 9]
        self.assertEqual(np.flatnonzero(trajectory.truncated).tolist(), rows)
        self.assertFalse(np.any(trajectory.terminated))
        self.assertEqual(np.flatnonzero(episodes.ended).tolist(), rows)

    def test_evaluation_keeps_no_trajectory(self):
        _, trajectory, episodes = simulate(counters(3), 4, training=False)
        self.assertIsNone(trajectory)
        self.assertEqual(episodes.score.shape, (4, 1))

    def test_exactly_3_transitions_of_each_episode_are_valid(self):
        _, trajectory, episodes = simulate(GhostRows(), 8)
        expected = [1, 1, 1, 0, 1, 1, 1, 0]
        np.testing.assert_array_equal(trajectory.valid[:, 0], np.array(expected, bool))
        scores = episodes.score.numpy()[episodes.ended.numpy()]
        self.assertEqual(scores.tolist(), [3, 3])

    def test_an_episode_that_was_lost_has_no_score_and_the_next_starts_at_0(self):
        carry, trajectory, episodes = simulate(LosesAnEpisode(), 5)
        self.assertFalse(np.any(episodes.ended))
        np.testing.assert_array_equal(trajectory.state[:, 0], [0, 1, 0, 1, 0])
        self.assertEqual((float(carry.score[0]), float(carry.length[0])), (1, 1))

    def test_the_last_step_can_be_read_from_the_batch(self):
        env = counters(3, 2)
        simulate(env, 3)
        np.testing.assert_array_equal(env.observation[:, 0], [0, 1])
        np.testing.assert_array_equal(env.reward, [1, 1])
        np.testing.assert_array_equal(env.terminated, [True, False])
        np.testing.assert_array_equal(env.truncated, [False, False])

    def test_actions_follow_from_the_seed(self):
        first, second = (simulate(counters(3, 2), 20)[1].action for _ in range(2))
        np.testing.assert_array_equal(first, second)
        self.assertEqual(set(np.ravel(first)), {0, 1})

    def test_compiled_and_uncompiled_agree(self):
        env = GhostRows()

        class Fixed:
            """Always acts by 0."""

            def initial_state(self, batch_size):
                """Return nothing."""
                del batch_size
                return ()

            def perform(self, observation, state, seed, training):
                """Return 0."""
                del observation, seed, training
                return Decision(tf.zeros([1], tf.int64), state, ())

        def run():
            carry = simulation.start(env, Fixed(), SEED)
            return simulation.simulate(env, Fixed(), carry, 8, True)

        results = [tf.function(run, jit_compile=jit)() for jit in (True, False)]
        for first, second in zip(*map(tf.nest.flatten, results), strict=True):
            if first.shape != (2,):  # XLA draws other seeds, which nothing here reads.
                np.testing.assert_array_equal(first, second)


if __name__ == "__main__":
    unittest.main()
