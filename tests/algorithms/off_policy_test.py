"""A value with one weight, learned from transitions made by hand."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.off_policy import Losses, OffPolicyAlgorithm
from agents.algorithms.settings import OffPolicySettings
from agents.parts.losses import squared_error
from agents.parts.network import Network
from agents.parts.settings import SettingError
from agents.parts.trajectory import Decision, Trajectory
from agents.parts.variables import named_variables
from agents.scripts import networks

NUMBER = gymnasium.spaces.Box(-np.inf, np.inf, ())
ACTIONS = gymnasium.spaces.Discrete(2)
SEED = tf.constant([1, 2])
# Reward 3 on the way from 2 to 4. With discount 1/2 and weight 1 its target is
# 3 + 4 / 2 = 5 and its value 2, so that its error is 3, its loss 4.5 and the gradient
# of that -3 * 2 = -6.
STEP = (2.0, 3.0, 4.0)


class Line(Network):
    """Values an observation by one weight, which starts at 1."""

    recurrent = False

    def __init__(self, *_):
        super().__init__()
        self.weight = tf.Variable(1.0)

    @property
    def trainable_variables(self):
        """The weight."""
        return (self.weight,)

    def initial_state(self, batch_size):
        """Return nothing."""
        return ()

    def __call__(self, observation, state):
        return None, self.weight * observation, state

    def unroll(self, observation, state, reset):
        """Look at sequences, each observation by itself."""
        return self(observation, state)


class Learner(OffPolicyAlgorithm):
    """Learns the value of whatever acts; keeps the progress of the run."""

    # Not compiled, which takes a quarter of the time; one test compiles.
    # pylint: disable-next=no-member
    update = tf.function(OffPolicyAlgorithm.update.python_function, autograph=False)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.progress = tf.Variable(0.0, trainable=False)

    def perform(self, observation, state, seed, training):
        """Always act by 0."""
        return Decision(tf.zeros(observation.shape, tf.int64), state, ())

    def target(self, batch):
        """Return the reward and the value of what follows."""
        following = self.target_network(batch.next_observation, ())[1]
        return batch.reward + batch.discount * following

    def loss(self, batch, target):
        """Return half the squared error."""
        value = self.network(batch.observation, ())[1]
        metrics = {"target": target, "weight": batch.weight}
        return Losses(squared_error(value, target), target - value, metrics)

    def finish(self, metrics, progress):
        """Keep the progress."""
        self.progress.assign(progress)
        return metrics | {"learned": metrics["loss"] + 1.0}


class LooksAtItself(Learner):
    """Its target moves with what is learned, unless no gradient flows there."""

    def target(self, batch):
        """Return the reward and the value of what follows."""
        following = self.network(batch.next_observation, ())[1]
        return batch.reward + batch.discount * following


class Compiled(Learner):
    """A `Learner` as it is outside of tests."""

    update = OffPolicyAlgorithm.update


class Doubles(Learner):
    """Learns beside others, as it were."""

    def reduce_gradients(self, gradients):
        """Return twice the gradients."""
        return [2.0 * gradient for gradient in gradients]


def make(algorithm=Learner, network=Line, envs=1, **settings):
    """Build an algorithm; it learns from the first update on."""
    settings = {
        "batch_size": 4,
        "gradient_steps": 1,
        "learning_rate": 0.1,
        "learning_rate_schedule": "constant",
        "learning_starts": 1,
        "discount": 0.5,
        "normalize_observations": False,
        "replay_capacity": 8,
    } | settings
    return algorithm(OffPolicySettings(**settings), NUMBER, ACTIONS, network, envs, 0)


def trajectory(*steps, terminated=(), invalid=()):
    """Return one environment's steps, each (observation, reward, next observation)."""
    observation, reward, following = tf.unstack(tf.constant(steps)[:, None], axis=-1)
    index = np.arange(len(steps))[:, None]
    return Trajectory(
        observation=observation,
        action=tf.zeros_like(observation, tf.int64),
        reward=reward,
        terminated=tf.constant(np.isin(index, terminated)),
        truncated=tf.zeros_like(observation, tf.bool),
        final_observation=following,
        valid=tf.constant(~np.isin(index, invalid)),
        state=(),
        extras=(),
    )


def update(algorithm, *steps, progress=0.0, **flags):
    """Update by some steps; return the metrics as numbers."""
    rows = trajectory(*(steps or (STEP,)), **flags)
    metrics = algorithm.update(rows, SEED, tf.constant(progress))
    return {name: float(value) for name, value in metrics.items()}


def weight(algorithm):
    """Return what was learned."""
    return float(algorithm.network.weight)


class UpdateTest(unittest.TestCase):
    """Numbers worked out by hand."""

    def test_a_gradient_step_has_the_loss_and_the_size_worked_out(self):
        """Adam's first step is as long as the learning rate."""
        for algorithm in (make(), make(Compiled)):
            metrics = update(algorithm)
            for name, value in {
                "loss": 4.5,
                "target": 5,
                "weight": 1,
                "gradient_norm": 6,
                "learning_rate": 0.1,
            }.items():
                self.assertAlmostEqual(metrics[name], value, 5, name)
            self.assertAlmostEqual(weight(algorithm), 1.1, 3)

    def test_the_target_stays_within_an_update_and_metrics_are_means_of_its_steps(self):
        """The second step sees the value 1.1 * 2 and the error 2.8."""
        metrics = update(make(gradient_steps=2))
        self.assertAlmostEqual(metrics["target"], 5, 6)
        self.assertAlmostEqual(metrics["loss"], (4.5 + 2.8**2 / 2) / 2, 3)

    def test_each_gradient_step_draws_a_minibatch_of_its_own(self):
        """Of targets 0 to 7, whose mean is 3.5."""
        algorithm = make(batch_size=1, gradient_steps=400, learning_rate=1e-12)
        steps = [(0.0, float(reward), 0.0) for reward in range(8)]
        metrics = update(algorithm, *steps)
        self.assertAlmostEqual(metrics["target"], 3.5, delta=0.4)

    def test_where_the_task_ends_nothing_follows(self):
        metrics = update(make(), terminated=[0])
        self.assertAlmostEqual(metrics["target"], 3)
        self.assertAlmostEqual(metrics["loss"], 0.5)

    def test_rewards_of_n_steps_are_summed(self):
        """Of both: 3 + 1 / 2 + 6 / 4 and 1 + 6 / 2, as often drawn as chance wills."""
        algorithm = make(n_step=2, batch_size=400)
        metrics = update(algorithm, STEP, (4.0, 1.0, 6.0))
        drawn = algorithm.memory.sample(SEED, 400, 0.5, 2).reward.numpy()
        self.assertEqual(set(drawn), {3.5, 1.0})
        share = (metrics["target"] - 4) / (5 - 4)
        self.assertAlmostEqual(share, 0.5, delta=0.1)

    def test_no_gradient_flows_through_the_target(self):
        """If it did, that of 3 + w * 4 / 2 - w * 2 would be 0."""
        algorithm = make(LooksAtItself)
        self.assertAlmostEqual(update(algorithm)["gradient_norm"], 6, 5)
        self.assertAlmostEqual(weight(algorithm), 1.1, 3)

    def test_rows_that_are_no_transitions_do_not_count(self):
        algorithm = make(batch_size=40)
        nothing = (np.nan, np.nan, np.nan)
        metrics = update(algorithm, STEP, nothing, invalid=[1])
        drawn = algorithm.memory.sample(SEED, 40, 0.5).weight.numpy()
        self.assertEqual(set(drawn), {0, 1})
        self.assertAlmostEqual(metrics["loss"], 4.5, 5)
        self.assertAlmostEqual(metrics["gradient_norm"], 6, 5)

    def test_without_a_transition_no_step_is_taken(self):
        algorithm = make()
        metrics = update(algorithm, invalid=[0])
        self.assertEqual(metrics["loss"], 0)
        self.assertEqual(int(algorithm.optimizer.steps), 0)
        self.assertEqual(weight(algorithm), 1)

    def test_a_subclass_reduces_gradients_and_finishes_the_update(self):
        algorithm = make(Doubles)
        metrics = update(algorithm, progress=0.25)
        self.assertAlmostEqual(metrics["gradient_norm"], 12, 5)
        self.assertAlmostEqual(metrics["learned"], 5.5, 6)
        self.assertEqual(float(algorithm.progress), 0.25)

    def test_both_observations_are_normalized_by_what_was_seen_before_the_update(self):
        """Mean 2 and deviation 2: from 0 to 1, so that the target is 3 + 1 / 2."""
        algorithm = make(normalize_observations=True)
        algorithm.warm_up(trajectory((0.0, 0.0, 0.0), (4.0, 0.0, 0.0)))
        metrics = update(algorithm)
        self.assertAlmostEqual(metrics["target"], 3.5, 5)
        self.assertAlmostEqual(metrics["loss"], 3.5**2 / 2, 5)
        drawn = algorithm.memory.sample(SEED, 1, 0.5)
        self.assertEqual(float(drawn.observation[0]), 2)
        update(algorithm, (20.0, 0.0, 0.0))
        # Of 0, 4, 2 and 20: 6.5.
        moved = algorithm.observation_normalizer(tf.constant([6.5]))
        self.assertAlmostEqual(float(moved[0]), 0, 5)


class ScheduleTest(unittest.TestCase):
    """What happens when."""

    def test_nothing_is_learned_before_there_is_enough_in_the_memory(self):
        algorithm = make(learning_starts=4, gradient_steps=3)
        for count in (2, 4, 6):
            metrics = update(algorithm, STEP, STEP)
            begun = count >= 4
            self.assertEqual(int(algorithm.memory.count), count)
            self.assertEqual(int(algorithm.optimizer.steps), max(count // 2 - 1, 0) * 3)
            self.assertEqual(weight(algorithm) != 1, begun)
            self.assertEqual(metrics["loss"] > 0, begun)

    def test_the_target_is_a_copy_after_so_many_updates_and_only_then(self):
        """The first update learns nothing, and is not counted."""
        algorithm = make(target_update=3, learning_starts=2)
        weights, targets = [], []
        for _ in range(7):
            update(algorithm)
            weights.append(weight(algorithm))
            targets.append(float(algorithm.target_network.weight))
        self.assertEqual(len(set(weights)), 7)
        self.assertEqual(targets, [1] * 3 + [weights[3]] * 3 + [weights[6]])

    def test_networks_start_as_one(self):
        class Counted(Line):
            """Starts at the number of those before it."""

            made = 0

            def __init__(self, *arguments):
                super().__init__(*arguments)
                Counted.made += 1
                self.weight.assign(Counted.made)

        algorithm = make(network=Counted)
        self.assertEqual(weight(algorithm), 1)
        self.assertEqual(float(algorithm.target_network.weight), 1)

    def test_the_learning_rate_falls_with_progress(self):
        algorithm = make(learning_rate_schedule="linear")
        metrics = update(algorithm, progress=0.75)
        self.assertAlmostEqual(metrics["learning_rate"], 0.025)
        self.assertAlmostEqual(weight(algorithm), 1.025, 4)

    def test_the_correction_for_priorities_grows_to_1_with_progress(self):
        """See `prioritized`: weights are 1 in the first step, and then 4 ** -exponent.

        The mean by these weights themselves is (4 * 1 / 4 + 1) / (4 * 1 / 2 + 1) for
        the exponent 1 / 2, and (4 / 16 + 1) / (4 / 4 + 1) for the exponent 1.
        """
        for initial, progress, mean in (
            (0.0, 0.0, 1),
            (0.0, 0.5, 2 / 3),
            (0.5, 0.0, 2 / 3),
            (0.0, 1.0, 5 / 8),
        ):
            algorithm, metrics = prioritized(progress, importance_exponent=initial)
            self.assertAlmostEqual(metrics["weight"], (1 + mean) / 2, 5)
            self.assertAlmostEqual(weight(algorithm), 1, 6)

    def test_errors_become_priorities_by_their_size_to_an_exponent(self):
        algorithm, _ = prioritized(0.0)
        drawn = algorithm.memory.sample(SEED, 5, 0.5).observation.numpy()
        self.assertEqual(drawn.tolist(), [1, 1, 1, 1, 2])

    def test_without_priorities_all_are_drawn_alike(self):
        algorithm, _ = prioritized(0.0, priority_exponent=0.0)
        drawn = algorithm.memory.sample(SEED, 400, 0.5).observation.numpy()
        self.assertAlmostEqual(np.mean(drawn), 1.5, delta=0.1)


def prioritized(progress, **settings):
    """Take two steps on errors of -16 and 1 that change next to nothing.

    With exponent 1 / 2 the priorities are 4 and 1, so that the five samples of the
    second step, one from each equal share, are four of the first and one of the other.
    """
    settings = {"priority_exponent": 0.5} | settings
    algorithm = make(
        batch_size=5,
        gradient_steps=2,
        learning_rate=1e-12,
        replay_capacity=2,
        **settings,
    )
    steps = ((1.0, -15.0, 0.0), (2.0, 3.0, 0.0))
    return algorithm, update(algorithm, *steps, progress=progress, terminated=[0, 1])


class MemoryTest(unittest.TestCase):
    """What is remembered, and what checkpoints hold of it."""

    def test_checkpoints_hold_the_memory_only_if_they_are_to(self):
        for saved in (True, False):
            variables = named_variables(algorithm=make(save_replay=saved))
            memory = [name for name, v in variables.items() if v.shape[:2] == [8, 1]]
            self.assertEqual(len(memory), 7 if saved else 0, memory)

    def test_what_they_hold_is_enough_to_go_on_as_if_nothing_had_happened(self):
        settings = {"target_update": 3, "priority_exponent": 0.5, "batch_size": 2}
        first, second = make(**settings), make(**settings)
        steps = [(float(number), 1.0, 2.0) for number in range(4)]
        for step in steps[:2]:
            update(first, step)
        saved = named_variables(algorithm=first)
        for name, variable in named_variables(algorithm=second).items():
            variable.assign(saved[name])
        for step in steps[2:]:
            self.assertEqual(update(first, step), update(second, step))
        self.assertNotEqual(float(first.target_network.weight), 1)
        for name, variable in named_variables(algorithm=second).items():
            np.testing.assert_array_equal(variable, saved[name], name)

    def test_without_it_the_memory_is_learned_from_all_the_same(self):
        algorithm = make(save_replay=False)
        self.assertAlmostEqual(update(algorithm)["loss"], 4.5, 5)

    def test_recurrent_networks_are_an_error(self):
        with self.assertRaisesRegex(SettingError, "know no recurrent networks: use"):
            make(network=networks.recurrent)

    def test_a_memory_that_never_holds_enough_to_begin_is_an_error(self):
        """Seven transitions are two rows of three environments."""
        make(envs=3, replay_capacity=7, learning_starts=6)
        with self.assertRaisesRegex(
            SettingError, "learning_starts is 7, but the memory holds 6 transitions"
        ):
            make(envs=3, replay_capacity=7, learning_starts=7)


if __name__ == "__main__":
    unittest.main()
