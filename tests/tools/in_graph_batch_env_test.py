"""Tests of InGraphBatchEnv."""

import functools
import time
import unittest

import numpy as np
import tensorflow as tf

from agents.parts import nests
from agents.tools import simulation
from agents.tools.batch_env import BatchEnv
from agents.tools.constructors import make_batch, start_members
from agents.tools.faults import EnvironmentFault
from agents.tools.in_graph_batch_env import InGraphBatchEnv
from agents.tools.in_graph_env import faults_raised
from agents.tools.wrappers.external_process import ExternalProcess
from tests import environments
from tests.learner import Learner, LearnerSettings
from tests.tools.wrappers.external_process_test import seconds_to_start_eight

SEED = [1, 2]


class InGraphTest(unittest.TestCase):
    """Has environments that are closed after the test."""

    def env(self, *constructors) -> InGraphBatchEnv:
        """Return environments within this process."""
        env = InGraphBatchEnv(make_batch(constructors))
        self.addCleanup(env.close)
        return env


class EpisodeTest(InGraphTest):
    """Steps within a graph are those of the batch."""

    def test_an_episode(self):
        env = self.env(environments.Counter, environments.OneState)

        @tf.function(autograph=False)
        def run(seed):
            state, first = env.reset(seed)
            steps = []
            for _ in range(3):
                state, step = env.step(state, tf.constant([0, 0], tf.int64))
                steps.append(step)
            return first, tf.nest.map_structure(lambda *x: tf.stack(x), *steps)

        first, steps = run(tf.constant(SEED))
        self.assertEqual(first.numpy().tolist(), [[0], [1]])
        observation, final = steps.observation[..., 0], steps.final_observation[..., 0]
        self.assertEqual(observation.numpy().tolist(), [[1, 1], [2, 1], [0, 1]])
        self.assertEqual(final.numpy().tolist(), [[1, 1], [2, 1], [3, 1]])
        self.assertEqual(steps.reward.numpy().tolist(), [[1, 1]] * 3)
        self.assertEqual(steps.terminated.numpy().tolist(), [[0, 0], [0, 0], [1, 0]])
        self.assertEqual(steps.truncated.numpy().tolist(), [[0, 0]] * 3)
        self.assertEqual(steps.valid.numpy().tolist(), [[1, 1]] * 3)

    def test_shapes_are_static(self):
        env = self.env(environments.Nested, environments.Nested)

        @tf.function(autograph=False)
        def step(state):
            _, step = env.step(state, tf.constant([0, 0], tf.int64))
            self.assertEqual(step.observation["image"].shape, [2, 2, 2])
            self.assertEqual(step.final_observation["pair"][1].shape, [2])
            self.assertEqual(step.reward.shape, [2])
            return step.observation

        state, _ = env.reset(tf.constant(SEED))
        self.assertEqual(step(state)["image"].dtype, tf.uint8)

    def test_leaves_are_in_the_order_of_tensorflow(self):
        space = environments.Nested.observation_space
        value = {"pair": (1, 2), "image": 3}
        self.assertEqual(nests.flatten(space, value), tf.nest.flatten(value))

    def test_tensors_keep_their_values(self):
        env = self.env(environments.MutatesObservation)
        state, first = env.reset(tf.constant(SEED))
        action = tf.constant([0], tf.int64)
        state, one = env.step(state, action)
        env.step(state, action)
        self.assertEqual(first.numpy().tolist(), [[0]])
        self.assertEqual(one.observation.numpy().tolist(), [[1]])
        self.assertEqual(one.final_observation.numpy().tolist(), [[1]])

    def test_the_last_step_can_be_read(self):
        env = self.env(environments.Counter)
        learner = Learner(LearnerSettings(), env)
        carry = simulation.start(env, learner, tf.constant(SEED))
        _, trajectory, _ = simulation.simulate(env, learner, carry, 3, True)
        self.assertEqual(env.observation.numpy().tolist(), [[0]])
        last_action = trajectory.action[-1].numpy().tolist()
        self.assertEqual(env.action.numpy().tolist(), last_action)
        self.assertEqual(env.reward.numpy().tolist(), [1])
        self.assertEqual(env.terminated.numpy().tolist(), [True])
        self.assertEqual(env.truncated.numpy().tolist(), [False])


class SeedTest(InGraphTest):
    """The starts of all environments follow from one seed."""

    def test_one_seed_starts_four_environments_in_four_states(self):
        env = self.env(*[environments.Draws] * 4)
        _, first = env.reset(tf.constant(SEED))
        self.assertEqual(len(np.unique(first)), 4)

    def test_the_same_seed_gives_the_same(self):
        env = self.env(environments.Draws)
        one, other, again = [
            env.reset(tf.constant(seed))[1].numpy().item()
            for seed in ([1, 2], [1, -3], [1, 2])
        ]
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)


class FiniteTest(InGraphTest):
    """What is no finite number is named by index, quantity and step."""

    def run_steps(self, constructor, **kwargs):
        """Take two steps with a well-behaved environment and one of those."""
        bad = functools.partial(constructor, **kwargs)
        env = self.env(environments.OneState, bad)

        @tf.function(autograph=False)
        def run(seed):
            state, _ = env.reset(seed)
            for _ in range(2):
                state, step = env.step(state, tf.constant([0, 0], tf.int64))
            return step

        with faults_raised(env):
            return run(tf.constant(SEED))

    def test_reward(self):
        for reward in (np.nan, np.inf, -np.inf):
            with self.subTest(reward=reward):
                message = f"Environment 1 gave the reward {reward} in step 2 after"
                with self.assertRaisesRegex(EnvironmentFault, message) as caught:
                    self.run_steps(environments.BadReward, reward=reward)
                self.assertEqual(caught.exception.indices, (1,))

    def test_large_reward_passes(self):
        step = self.run_steps(environments.BadReward, reward=1e8)
        self.assertEqual(step.reward.numpy().tolist(), [1, 1e8])

    def test_observation(self):
        message = "Environment 1 gave the observation nan in step 2 after"
        with self.assertRaisesRegex(EnvironmentFault, message):
            self.run_steps(environments.BadObservation)

    def test_observation_at_reset(self):
        message = "Environment 1 gave the observation at reset nan in step 0 after"
        with self.assertRaisesRegex(EnvironmentFault, message):
            self.run_steps(environments.BadObservation, at_step=0)

    def test_first_observation_of_a_later_episode(self):
        class BadSecondEpisode(environments.Counter):
            """Starts its second episode with an infinity."""

            episode = 0

            def reset(self, **kwargs):
                self.episode += 1
                return super().reset(**kwargs)

            def observe(self):
                value = np.inf if self.episode == 2 else self.count
                return np.float32([value])

        message = "Environment 1 gave the observation at reset inf in step 2 after"
        with self.assertRaisesRegex(EnvironmentFault, message):
            self.run_steps(BadSecondEpisode, steps=2)

    def test_fault_of_an_environment_keeps_its_type_and_traceback(self):
        message = "Environment 1 raised: ValueError: crash in step 2"
        with self.assertRaisesRegex(EnvironmentFault, message) as caught:
            self.run_steps(environments.Crash)
        self.assertIn("in observe", caught.exception.remote_traceback)


class WorkerTest(unittest.TestCase):
    """Workers start and work although this process has used TensorFlow."""

    @classmethod
    def setUpClass(cls):
        tf.reduce_sum(tf.random.stateless_normal([100, 100], SEED)).numpy()

    def test_two_workers_within_30_seconds(self):
        start = time.monotonic()
        env = InGraphBatchEnv(
            BatchEnv(start_members(environments.Counter, 4, 2, timeout=30))
        )
        self.addCleanup(env.close)
        state, _ = env.reset(tf.constant(SEED))
        _, step = env.step(state, tf.zeros([4], tf.int64))
        self.assertEqual(step.observation.numpy().tolist(), [[1]] * 4)
        self.assertLess(time.monotonic() - start, 30)

    def test_eight_start_side_by_side(self):
        self.assertLess(seconds_to_start_eight(), 5)

    def test_workers_are_free_of_tensorflow(self):
        worker = ExternalProcess(environments.OneState)
        self.addCleanup(worker.close)
        self.assertFalse(worker.call("is_imported", "tensorflow"))
