"""EnvPool's environments."""

import contextlib
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import gymnasium
import numpy as np
import tensorflow as tf

from agents.environments import envpool_env
from agents.environments.envpool_env import EnvPoolBatch
from agents.parts.settings import SettingError
from agents.tools import constructors
from agents.tools.faults import EnvironmentFault
from tests.environments import Counter
from tests.scripts import training_test

SEEDS = [3, 1, 4, 1000, 5]
# Nothing limits its episodes, not even the limit that EnvPool is told.
ENDLESS = "CliffWalking-v1"


def actions_of(env, seed=0):
    """Yield random actions, [N, ...] each."""
    space = env.action_space
    space.seed(seed)
    while True:
        yield np.stack([space.sample() for _ in range(env.num_envs)])


def play(env, steps, seeds=None):
    """Return the outcomes of random steps, [T, N, ...] each."""
    rows = [env.reset(seeds or SEEDS[: env.num_envs])]
    outcomes = []
    for _, actions in zip(range(steps), actions_of(env), strict=False):
        observation, reward, terminated, truncated, infos = env.step(actions)
        final = infos["final_observation"]
        outcomes.append((observation, reward, terminated, truncated, final))
        rows.append(observation)
    return [np.stack(rows[:-1]), *map(np.stack, zip(*outcomes, strict=True))]


class EpisodeTest(unittest.TestCase):
    """Ends, limits, starts."""

    def test_an_end_hands_over_the_last_and_the_next_first_observation(self):
        outcomes = play(EnvPoolBatch("CartPole-v1", 5, None), 100)
        _, observation, reward, terminated, truncated, final = outcomes
        position, angle = np.abs(final[..., 0]), np.abs(final[..., 2])
        outside = (position > 2.4) | (angle > 12 * np.pi / 180)
        np.testing.assert_array_equal(terminated, outside)
        self.assertGreater(terminated.sum(), 5)
        self.assertFalse(truncated.any())
        self.assertTrue((np.abs(observation[terminated]) <= 0.05).all())
        np.testing.assert_array_equal(observation[~terminated], final[~terminated])
        self.assertTrue((reward == 1).all())

    def test_no_action_is_lost_after_an_end(self):
        """Each action pushes the cart, which a reset would leave nearly at rest."""
        env = EnvPoolBatch("CartPole-v1", 5, None)
        before, _, _, terminated, _, final = play(env, 60)
        self.assertTrue(terminated[:-1].any())
        self.assertTrue((np.abs(final[..., 1] - before[..., 1]) > 0.15).all())

    def test_the_own_limit_truncates(self):
        outcomes = play(EnvPoolBatch("Pendulum-v1", 2, None), 400)
        _, _, _, terminated, truncated, _ = outcomes
        np.testing.assert_array_equal(np.flatnonzero(truncated.all(1)), [199, 399])
        self.assertEqual(truncated.sum(), 4)
        self.assertFalse(terminated.any())

    def test_max_length_replaces_the_limit(self):
        for name, length in (("HalfCheetah-v5", 7), ("Pendulum-v1", 210), (ENDLESS, 7)):
            with self.subTest(name):
                env = EnvPoolBatch(name, 2, length)
                truncated = play(env, 2 * length + 1)[4]
                steps = [length - 1, 2 * length - 1]
                np.testing.assert_array_equal(np.flatnonzero(truncated.all(1)), steps)
                self.assertEqual(truncated.sum(), 4)

    def test_what_is_handed_out_does_not_change(self):
        env = EnvPoolBatch("CartPole-v1", 5, None)
        given, copies = [env.reset(SEEDS)], []
        for _, actions in zip(range(20), actions_of(env), strict=False):
            *outcome, infos = env.step(actions)
            given += [*outcome, infos["final_observation"]]
            copies += [array.copy() for array in given[len(copies) :]]
        for array, copy in zip(given, copies, strict=True):
            np.testing.assert_array_equal(array, copy)
            others = [other for other in given if other is not array]
            self.assertFalse(any(np.shares_memory(array, other) for other in others))

    def test_dtypes(self):
        env = EnvPoolBatch("HalfCheetah-v5", 2, None)
        arrays = play(env, 1)
        dtypes = [np.float32] * 3 + [bool] * 2 + [np.float32]
        self.assertEqual([array.dtype for array in arrays], dtypes)

    def test_observations_are_nests(self):
        env = EnvPoolBatch("MiniGrid-Empty-5x5-v0", 3, None)
        space = env.observation_space
        first = env.reset(SEEDS[:3])
        self.assertEqual(first["direction"].dtype, space["direction"].dtype)
        self.assertEqual(first["image"].shape, (3, 7, 7, 3))
        self.assertEqual(first["image"].dtype, np.uint8)


class SeedTest(unittest.TestCase):
    """What follows from the seeds."""

    def test_each_environment_has_a_start_of_its_own(self):
        start = EnvPoolBatch("Pendulum-v1", 5, None).reset(SEEDS)
        self.assertEqual(len(np.unique(start[:, 0])), 5)

    def test_the_seeds_decide(self):
        env = EnvPoolBatch("CartPole-v1", 5, None)
        one, other, again = (play(env, 40, s) for s in (SEEDS, SEEDS[::-1], SEEDS))
        for first, second in zip(one, again, strict=True):
            np.testing.assert_array_equal(first, second)
        self.assertFalse((one[0] == other[0])[:, :2].any())

    def test_the_number_of_threads_does_not_matter(self):
        results = []
        for cores in ({0}, {0, 1}, {0, 1, 2}):
            with mock.patch("os.sched_getaffinity", return_value=cores):
                results.append(play(EnvPoolBatch("CartPole-v1", 5, None), 60))
        for arrays in zip(*results, strict=True):
            for array in arrays:
                np.testing.assert_array_equal(array, arrays[0])


class GymnasiumTest(unittest.TestCase):
    """The environments are those of Gymnasium."""

    def setUp(self):
        # MuJoCo writes its warnings about Gymnasium's models to the current folder.
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(contextlib.chdir(folder))

    def test_spaces(self):
        for name in ("Pendulum-v1", "CartPole-v1", "HalfCheetah-v5", "FrozenLake-v1"):
            with self.subTest(name):
                env = EnvPoolBatch(name, 2, None)
                batch = constructors.make_batch(
                    [lambda name=name: gymnasium.make(name)]
                )
                self.addCleanup(batch.close)
                self.assertEqual(env.observation_space, batch.observation_space)
                self.assertEqual(env.action_space, batch.action_space)

    def test_pendulum_moves_alike(self):
        env = EnvPoolBatch("Pendulum-v1", 2, None)
        peer = gymnasium.make("Pendulum-v1").unwrapped
        peer.reset(seed=0)
        self.assert_alike(env, peer, self.pendulum_state, 1e-4)

    def test_half_cheetah_moves_alike(self):
        env = EnvPoolBatch("HalfCheetah-v5", 2, None)
        peer = gymnasium.make("HalfCheetah-v5").unwrapped
        self.addCleanup(peer.close)
        peer.reset(seed=0)
        self.assert_alike(env, peer, self.cheetah_state, 1e-2)

    def pendulum_state(self, peer, observation):
        """Set the angle and its velocity."""
        cosine, sine, velocity = observation
        peer.state = np.array([np.arctan2(sine, cosine), velocity])

    def cheetah_state(self, peer, observation):
        """Set what is observed, all but the place on the track."""
        peer.set_state(np.insert(observation[:8], 0, 0), observation[8:])

    def assert_alike(self, env, peer, set_state, tolerance):
        """Compare steps from the same states by the same actions."""
        before = env.reset(SEEDS[:2])
        for _, actions in zip(range(20), actions_of(env), strict=False):
            after, rewards, *_ = env.step(actions)
            for row, action in enumerate(actions):
                set_state(peer, before[row])
                observation, reward, *_ = peer.step(action)
                np.testing.assert_allclose(
                    after[row], observation, tolerance, tolerance
                )
                np.testing.assert_allclose(rewards[row], reward, tolerance, tolerance)
            before = after


class SpaceTest(unittest.TestCase):
    """Spaces that EnvPool describes wrongly."""

    def test_the_least_positive_number_is_no_bound(self):
        space = EnvPoolBatch("LunarLander-v2", 1, None).observation_space
        self.assertEqual(space.shape, (8,))
        self.assertTrue(np.all(np.isneginf(space.low)))


class LearnTest(unittest.TestCase):
    """One iteration of PPO, found by the name of the backend."""

    def test_half_cheetah(self):
        training_test.SpacesTest.learn(
            self, "HalfCheetah-v5", "feed_forward", backend="envpool"
        )

    def test_the_seed_decides(self):
        env = envpool_env.make("Pendulum-v1", 4, None)
        self.addCleanup(env.close)
        one, other, again = (env.reset(tf.constant([1, x]))[1] for x in (2, 3, 2))
        np.testing.assert_array_equal(one, again)
        self.assertFalse(np.isin(one, other).any())


class FaultTest(unittest.TestCase):
    """What ends a batch."""

    def setUp(self):
        self.env = EnvPoolBatch("Pendulum-v1", 2, None)

    def test_actions_of_another_shape(self):
        self.env.reset(SEEDS[:2])
        with self.assertRaisesRegex(ValueError, r"actions of shape \(3, 1\) for 2 env"):
            self.env.step(np.zeros([3, 1], np.float32))

    def test_what_envpool_raises(self):
        error = RuntimeError("no such file")
        message = "Environments 0 to 1 could not be constructed: RuntimeError: no such"
        with (
            mock.patch("envpool.make_gymnasium", side_effect=error),
            self.assertRaisesRegex(EnvironmentFault, message),
        ):
            self.env.reset(SEEDS[:2])
        with self.assertRaisesRegex(EnvironmentFault, message):
            self.env.reset(SEEDS[:2])

    def test_abort(self):
        self.env.reset(SEEDS[:2])
        self.env.abort()
        with self.assertRaises(InterruptedError):
            self.env.step(np.zeros([2, 1], np.float32))


class CheckTest(unittest.TestCase):
    """What does not fit is an error in one sentence."""

    def refuse(self, message, env):
        """Expect a message about an environment."""
        with self.assertRaises(SettingError) as caught:
            envpool_env.check(env)
        self.assertIn(message, str(caught.exception))

    def test_known_ids(self):
        for name in ("Pendulum-v1", "HalfCheetah-v5", "Pong-v5", "AcrobotSwingup-v1"):
            envpool_env.check(name)

    def test_a_function(self):
        self.refuse("run tests.environments:Counter with --backend=gymnasium.", Counter)

    def test_a_missing_package(self):
        with mock.patch.object(importlib.util, "find_spec", return_value=None):
            self.refuse(
                "The backend envpool needs the package envpool, which is not "
                "installed: pip install -e '.[envpool]'.",
                "Pendulum-v1",
            )

    def test_an_unknown_id_comes_with_the_nearest(self):
        self.refuse("no env 'Pendulum-v9': did you mean Pendulum-v", "Pendulum-v9")

    def test_an_id_unlike_any_comes_with_where_all_are(self):
        self.refuse(
            "no env '???': envpool.list_all_envs() returns all that it has.", "???"
        )

    def test_several_players(self):
        self.refuse("has 2 players, but an environment can have only one", "Chess-v1")

    def test_what_can_not_be_made(self):
        error = ImportError("Install the Qt5 libraries.")
        with mock.patch("envpool.make_spec", side_effect=error):
            self.refuse("can't make the env 'Pong-v5': Install the Qt5", "Pong-v5")

    def test_episodes_without_a_limit(self):
        message = f"{ENDLESS} has no limit .*: add --set=max_length=1000, say."
        with self.assertRaisesRegex(SettingError, message):
            envpool_env.make(ENDLESS, 2, None)

    def test_nothing_heavy_is_imported_before_it_is_asked_for(self):
        code = (
            "import sys, agents.environments.envpool_env\n"
            "print({'tensorflow', 'envpool'} & set(sys.modules))"
        )
        command = [sys.executable, "-c", code]
        output = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertEqual(output.stdout, "set()\n")


if __name__ == "__main__":
    unittest.main()
