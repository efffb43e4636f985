"""PPO on trajectories made by hand."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.ppo.ppo import PPO
from agents.algorithms.ppo.settings import PPOSettings
from agents.parts.nests import UnsupportedSpace
from agents.parts.settings import SettingError
from agents.parts.trajectory import Trajectory
from agents.scripts import networks

OBSERVATIONS = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)
BOUNDED = gymnasium.spaces.Box(-0.1, 0.1, (2,), np.float32)
SEED = tf.constant([5, 6])


def make(network=networks.feed_forward, actions=BOUNDED, envs=2, **settings):
    """Build PPO with small networks."""
    settings = {"policy_layers": (8,), "value_layers": (8,)} | settings
    return PPO(PPOSettings(**settings), OBSERVATIONS, actions, network, envs, seed=3)


def play(algorithm, horizon=8, envs=2, reward=1.0, seed=0, invalid=()):
    """Let the algorithm act on random observations; row 3 ends an episode of env 0."""
    noise = np.random.default_rng(seed)
    shape = (horizon + 1, envs, 3)
    observation = tf.constant(noise.normal(0, 1, shape), tf.float32)
    state, rows = algorithm.initial_state(envs), []
    terminated = np.zeros((horizon, envs), bool)
    terminated[3, 0] = True
    for step in range(horizon):
        decision = algorithm.perform(observation[step], state, [seed, step], True)
        rows.append((decision.action, state, decision.extras))
        start = algorithm.initial_state(envs)
        ended = terminated[step][:, None]
        state = tf.nest.map_structure(
            lambda a, b, ended=ended: tf.where(ended, a, b), start, decision.state
        )
    action, states, extras = tf.nest.map_structure(lambda *leaf: tf.stack(leaf), *rows)
    valid = np.ones((horizon, envs), bool)
    valid[list(invalid)] = False
    return Trajectory(
        observation=observation[:-1],
        action=action,
        reward=tf.fill([horizon, envs], tf.constant(reward)),
        terminated=tf.constant(terminated),
        truncated=tf.zeros([horizon, envs], tf.bool),
        final_observation=observation[1:],
        valid=tf.constant(valid),
        state=states,
        extras=extras,
    )


def weights(algorithm):
    """Return the weights of the network as arrays."""
    return [variable.numpy() for variable in algorithm.network.trainable_variables]


class PerformTest(unittest.TestCase):
    """Acting."""

    def test_actions_stay_in_bounds_in_training_and_evaluation(self):
        algorithm = make(init_std=5.0)
        for training in (True, False):
            observation = tf.random.stateless_normal([200, 3], SEED) * 1000
            action = algorithm.perform(observation, (), SEED, training).action
            self.assertLessEqual(float(tf.reduce_max(tf.abs(action))), np.float32(0.1))

    def test_evaluation_takes_the_mode_whatever_the_seed(self):
        algorithm, observation = make(), tf.ones([1, 3])
        first = algorithm.perform(observation, (), [0, 1], False).action
        second = algorithm.perform(observation, (), [0, 2], False).action
        np.testing.assert_array_equal(first, second)

    def test_training_explores_by_the_seed(self):
        algorithm, observation = make(), tf.ones([1, 3])
        draws = [
            algorithm.perform(observation, (), seed, True).extras.numpy()
            for seed in ([0, 1], [0, 1], [0, 2])
        ]
        np.testing.assert_array_equal(draws[0], draws[1])
        self.assertFalse((draws[0] == draws[2]).any())


class UpdateTest(unittest.TestCase):
    """Learning; cases 5, 8, 9, 10 and 11 among them."""

    def test_probability_ratios_start_at_1(self):
        """Bounds of 0.1 and deviation 1: the log-probability is of the sample."""
        algorithm = make(init_std=1.0, normalize_ranges=False)
        algorithm.warm_up(play(algorithm, seed=7))
        trajectory = play(algorithm)
        observation = algorithm.observation_normalizer(trajectory.observation)
        policy, _, _ = algorithm.network(observation, ())
        behavior = algorithm._behavior(trajectory)  # pylint: disable=protected-access
        log_ratio = policy.log_prob(trajectory.extras) - behavior.log_prob
        np.testing.assert_allclose(np.exp(log_ratio), 1.0, atol=1e-4)

    def test_the_first_minibatch_measures_no_divergence(self):
        algorithm = make(update_epochs=1, batch_size=16)
        algorithm.warm_up(play(algorithm, seed=7))
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertLess(float(metrics["divergence"]), 1e-6)

    def test_normalizers_move_on_after_the_update_only(self):
        algorithm = make()
        trajectory = play(algorithm)
        before = algorithm.observation_normalizer(tf.ones([1, 3])).numpy()
        np.testing.assert_array_equal(before, [[1, 1, 1]])
        algorithm.update(trajectory, SEED, tf.constant(0.0))
        after = algorithm.observation_normalizer(tf.ones([1, 3])).numpy()
        self.assertFalse((before == after).any())

    def test_a_minibatch_of_one_gives_finite_losses(self):
        """10 samples in minibatches of 9."""
        algorithm = make(batch_size=9)
        metrics = algorithm.update(play(algorithm, horizon=5), SEED, tf.constant(0.0))
        for name, value in metrics.items():
            self.assertTrue(np.isfinite(value), name)

    def test_kl_stop_takes_no_further_step(self):
        """Learning rate 1, limit 0.01: one step, Adam's counter included."""
        algorithm = make(learning_rate=1.0, kl_stop=0.01, batch_size=4)
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertEqual(int(algorithm.optimizer.steps), 1)
        self.assertEqual(float(metrics["stopped"]), 1.0)

    def test_without_kl_stop_every_minibatch_counts(self):
        algorithm = make(update_epochs=3, batch_size=6)
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertEqual(int(algorithm.optimizer.steps), 3 * 3)
        self.assertEqual(float(metrics["stopped"]), 0.0)

    def test_a_huge_reward_is_clipped_and_weights_stay_finite(self):
        algorithm = make()
        algorithm.warm_up(play(algorithm, seed=7))
        metrics = algorithm.update(play(algorithm, reward=1e8), SEED, tf.constant(0.0))
        self.assertTrue(np.isfinite(float(metrics["value_loss"])))
        self.assertTrue(all(np.isfinite(weight).all() for weight in weights(algorithm)))

    def test_rows_that_are_no_transitions_are_not_learned_from(self):
        """Whatever they hold, a NaN included, the weights are the same."""
        results = []
        for junk in (0.0, 1e6, np.nan):
            algorithm = make(batch_size=16)
            trajectory = play(algorithm, invalid=[5])
            row = np.arange(8) == 5
            spoiled = trajectory._replace(
                reward=tf.where(row[:, None], junk, trajectory.reward),
                observation=tf.where(row[:, None, None], junk, trajectory.observation),
            )
            algorithm.update(spoiled, SEED, tf.constant(0.0))
            results.append(weights(algorithm))
        for other in results[1:]:
            for first, second in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(first, second)

    def test_an_update_of_no_transitions_changes_no_weight(self):
        algorithm = make()
        before = weights(algorithm)
        algorithm.update(play(algorithm, invalid=range(8)), SEED, tf.constant(0.0))
        for old, new in zip(before, weights(algorithm), strict=True):
            np.testing.assert_array_equal(old, new)

    def test_the_learning_rate_falls_with_progress(self):
        algorithm = make(learning_rate=0.5)
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.25))
        self.assertAlmostEqual(float(metrics["learning_rate"]), 0.375)

    def test_final_observations_are_normalized_like_any_other(self):
        """Observations of size 1000: their values are those of size 1."""
        values = []
        for scale in (1.0, 1000.0):
            algorithm = make()
            trajectory = play(algorithm)
            scaled = trajectory._replace(
                observation=trajectory.observation * scale,
                final_observation=trajectory.final_observation * scale,
            )
            algorithm.warm_up(scaled)
            # pylint: disable=protected-access
            prepared = algorithm._prepare(scaled, algorithm._behavior(scaled))
            values.append(prepared.value_target.numpy())
        np.testing.assert_allclose(values[0], values[1], rtol=1e-3, atol=1e-3)

    def test_the_adaptive_penalty_follows_the_divergence(self):
        algorithm = make(clip_range=None, kl_target=1e-6, learning_rate=0.1)
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertEqual(float(metrics["penalty"]), 1.5)

    def test_compiled_and_uncompiled_agree(self):
        """One minibatch an epoch, since XLA draws another order."""
        results = []
        for compiled in (True, False):
            algorithm = make(batch_size=16, update_epochs=2)
            algorithm.warm_up(play(algorithm, seed=7))
            trajectory = play(algorithm)
            update = algorithm.update
            if not compiled:
                update = algorithm.update.python_function
                update = tf.function(update, autograph=False)
            update(trajectory, SEED, tf.constant(0.0))
            results.append(weights(algorithm))
        for first, second in zip(*results, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-4)


class RecurrentTest(unittest.TestCase):
    """States travel in the trajectory."""

    def test_probability_ratios_start_at_1_across_chunks_and_episodes(self):
        algorithm = make(networks.recurrent, chunk_length=4, batch_size=16)
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertTrue(np.isfinite(float(metrics["policy_loss"])))
        algorithm = make(
            networks.recurrent, chunk_length=4, batch_size=16, update_epochs=1
        )
        metrics = algorithm.update(play(algorithm), SEED, tf.constant(0.0))
        self.assertLess(float(metrics["divergence"]), 1e-6)

    def test_chunks_that_do_not_divide_are_an_error(self):
        for changes in ({"horizon": 30}, {"batch_size": 30}):
            settings = {"horizon": 32, "batch_size": 32, "chunk_length": 16} | changes
            with self.assertRaisesRegex(SettingError, "multiple of chunk_length"):
                make(networks.recurrent, **settings)
        make(networks.feed_forward, horizon=30, batch_size=30)


class DiscreteTest(unittest.TestCase):
    """Categorical policies."""

    def test_all_discrete_spaces_can_be_learned_in(self):
        for space in (
            gymnasium.spaces.Discrete(3),
            gymnasium.spaces.MultiDiscrete([3, 5]),
            gymnasium.spaces.MultiBinary(4),
        ):
            algorithm = make(networks.feed_forward, space)
            trajectory = play(algorithm)
            self.assertTrue(space.contains(trajectory.action[0, 0].numpy()))
            metrics = algorithm.update(trajectory, SEED, tf.constant(0.0))
            self.assertTrue(np.isfinite(float(metrics["policy_loss"])))

    def test_actions_without_a_distribution_are_an_error(self):
        for space in (
            gymnasium.spaces.Box(0, 3, (2,), np.int64),
            gymnasium.spaces.Text(3),
        ):
            with self.assertRaisesRegex(UnsupportedSpace, "action space"):
                make(networks.feed_forward, space)


class ActionMaskTest(unittest.TestCase):
    """An entry `action_mask` of observations."""

    def make(self, mask, actions, **settings):
        """Build PPO for a space of masks."""
        spaces = {"action_mask": mask, "number": OBSERVATIONS}
        space = gymnasium.spaces.Dict(spaces)
        settings = PPOSettings(policy_layers=(8,), value_layers=(8,), **settings)
        return PPO(settings, space, actions, networks.feed_forward, 4, seed=3)

    def test_only_what_is_allowed_is_drawn_or_chosen(self):
        algorithm = self.make(
            gymnasium.spaces.MultiBinary(3), gymnasium.spaces.Discrete(3)
        )
        mask = tf.constant([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], tf.int8)
        for training in (True, False):
            drawn = set()
            for step in range(50):
                noise = tf.random.stateless_normal([4, 3], [1, step])
                decision = algorithm.perform(
                    {"action_mask": mask, "number": noise}, (), [2, step], training
                )
                action = decision.action.numpy()
                self.assertEqual(action[:3].tolist(), [0, 1, 2])
                drawn.add(int(action[3]))
            self.assertEqual(drawn, {1, 2})

    def test_choices_have_their_masks_one_after_the_other(self):
        parts = [gymnasium.spaces.MultiBinary(2), gymnasium.spaces.Box(0, 1, (3,), int)]
        algorithm = self.make(
            gymnasium.spaces.Tuple(parts), gymnasium.spaces.MultiDiscrete([2, 3])
        )
        mask = (
            tf.constant([[0, 1]] * 4, tf.int8),
            tf.constant([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], tf.int64),
        )
        drawn = set()
        for step in range(30):
            observation = {"action_mask": mask, "number": tf.zeros([4, 3])}
            action = algorithm.perform(observation, (), [2, step], True).action.numpy()
            self.assertEqual(action[:3].tolist(), [[1, 0], [1, 1], [1, 2]])
            drawn.add(int(action[3, 1]))
        # Where nothing is allowed, all that there is may be drawn.
        self.assertEqual(drawn, {0, 1, 2})

    def test_learns_by_finite_numbers_and_leaves_the_mask_as_it_is(self):
        algorithm = self.make(
            gymnasium.spaces.Box(0, 1, (3,), np.int8), gymnasium.spaces.Discrete(3)
        )
        plain = play(make(networks.feed_forward, gymnasium.spaces.Discrete(3), 4), 8, 4)
        mask = np.ones([9, 4, 3], np.int8)
        mask[:, :, 2] = 0
        trajectory = plain._replace(
            observation={
                "action_mask": tf.constant(mask[:-1]),
                "number": plain.observation,
            },
            final_observation={
                "action_mask": tf.constant(mask[1:]),
                "number": plain.final_observation,
            },
            extras=tf.minimum(plain.extras, 1),
        )
        for _ in range(2):
            metrics = algorithm.update(trajectory, SEED, tf.constant(0.0))
            self.assertTrue(all(np.isfinite(float(m)) for m in metrics.values()))
            # Of two actions, not of three.
            self.assertLess(float(metrics["entropy"]), np.log(2) + 1e-6)
        encoded = algorithm.observation_normalizer(trajectory.observation)
        np.testing.assert_array_equal(encoded["action_mask"], mask[:-1])

    def test_a_mask_of_another_size_is_an_error(self):
        with self.assertRaisesRegex(
            UnsupportedSpace, "has 4 numbers, but .* 3 categories"
        ):
            self.make(gymnasium.spaces.MultiBinary(4), gymnasium.spaces.Discrete(3))

    def test_continuous_actions_can_not_be_masked(self):
        with self.assertRaisesRegex(UnsupportedSpace, "only discrete"):
            self.make(gymnasium.spaces.MultiBinary(2), BOUNDED)


if __name__ == "__main__":
    unittest.main()
