"""A value with one weight, learned from trajectories made by hand."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms.on_policy import OnPolicyAlgorithm
from agents.algorithms.settings import OnPolicySettings
from agents.parts.distributions import Categorical
from agents.parts.losses import squared_error, weighted_mean
from agents.parts.network import Network
from agents.parts.trajectory import Trajectory

NUMBER = gymnasium.spaces.Box(-np.inf, np.inf, ())
ACTIONS = gymnasium.spaces.Discrete(2)
SEED = tf.constant([1, 2])
STEPS = 3


class Line(Network):
    """Values an observation by one weight, which starts at 1; acts at random."""

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
        policy = Categorical(tf.zeros([*observation.shape, 1, 2]))
        return policy, self.weight * observation, state

    def unroll(self, observation, state, reset):
        """Look at sequences, each observation by itself."""
        return self(observation, state)


class Learner(OnPolicyAlgorithm):
    """Learns the value, and tells what it was given for the steps 1, 2 and 3.

    Attributes:
        calls: how often it was asked whether it may take a step.
        forbidden: the call that is answered by no; 0: none.
    """

    # Not compiled, which takes a quarter of the time; one test compiles.
    # pylint: disable-next=no-member
    update = tf.function(OnPolicyAlgorithm.update.python_function, autograph=False)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.calls = tf.Variable(0, trainable=False)
        self.forbidden = 0
        self.finished = tf.Variable(0.0, trainable=False)

    def loss(self, batch):
        """Return half the squared error of the value."""
        _, value, _ = self.unroll(batch.observation, batch.state, batch.reset)
        loss = weighted_mean(squared_error(value, batch.value_target), batch.weight)
        told = {
            "advantage": batch.advantage,
            "target": batch.value_target,
            "log_prob": batch.behavior.log_prob,
            "weight": batch.weight,
        }
        metrics = {"loss": loss}
        for step in range(1, STEPS + 1):
            is_step = tf.cast(batch.observation == step, tf.float32)
            for name, leaf in told.items():
                metrics[f"{name}_{step}"] = tf.reduce_sum(leaf * is_step)
        return loss, metrics

    def may_step(self, metrics):
        """Count, and answer by no once."""
        self.calls.assign_add(1)
        return self.calls != self.forbidden

    def finish(self, metrics):
        """Keep the loss."""
        self.finished.assign(metrics["loss"])
        return metrics | {"doubled": 2 * metrics["learning_rate"]}


class Compiled(Learner):
    """A `Learner` as it is outside of tests."""

    update = OnPolicyAlgorithm.update


class Doubles(Learner):
    """Learns beside others, as it were."""

    def reduce_gradients(self, gradients):
        """Return twice the gradients."""
        return [2.0 * gradient for gradient in gradients]


def make(algorithm=Learner, **settings):
    """Build an algorithm that normalizes nothing, unless told to."""
    settings = {
        "learning_rate": 0.1,
        "learning_rate_schedule": "constant",
        "discount": 0.5,
        "gae_lambda": 0.5,
        "normalize_observations": False,
        "normalize_rewards": False,
        "normalize_advantages": False,
    } | settings
    return algorithm(OnPolicySettings(**settings), NUMBER, ACTIONS, Line, 1, 0)


def trajectory(reward=(1.0, 1.0, 1.0), terminated=(), truncated=(), **changes):
    """Return three steps of one environment, from 1 to 2 to 3 to 4."""
    number = tf.range(1, STEPS + 1, dtype=tf.float32)[:, None]
    return Trajectory(
        observation=number,
        action=tf.zeros_like(number, tf.int64),
        reward=tf.constant(reward)[:, None],
        terminated=tf.constant(np.isin(number, terminated)),
        truncated=tf.constant(np.isin(number, truncated)),
        final_observation=number + 1,
        valid=tf.ones_like(number, tf.bool),
        state=(),
        extras=tf.zeros([STEPS, 1, 1], tf.int32),
    )._replace(**changes)


def update(algorithm, rows=None, progress=0.0):
    """Update by a trajectory; return the metrics as numbers."""
    rows = trajectory() if rows is None else rows
    metrics = algorithm.update(rows, SEED, tf.constant(progress))
    return {name: float(value) for name, value in metrics.items()}


def column(*numbers):
    """Return numbers [T, 1] of one environment."""
    return tf.constant(numbers)[:, None]


class BatchTest(unittest.TestCase):
    """What a loss is given; with weight 1 the value of an observation is itself.

    Errors of values are 1 + 2 / 2 - 1 = 1, 1 + 3 / 2 - 2 = 1 / 2 and 1 + 4 / 2 - 3 = 0.
    An advantage is one of them, and a quarter of the next advantage.
    """

    def check(self, metrics, name, expected, places=5):
        """Compare what a loss was given for the three steps."""
        for step, value in enumerate(expected, 1):
            self.assertAlmostEqual(metrics[f"{name}_{step}"], value, places)

    def test_advantages_and_value_targets_are_those_worked_out(self):
        for algorithm in (make(), make(Compiled)):
            metrics = update(algorithm)
            self.check(metrics, "advantage", (1.125, 0.5, 0))
            self.check(metrics, "target", (2.125, 2.5, 3))
            self.check(metrics, "weight", (1, 1, 1))
            self.check(metrics, "log_prob", [np.log(0.5)] * 3)

    def test_where_the_task_ends_nothing_follows(self):
        """1 - 2 = -1 for the second step."""
        metrics = update(make(), trajectory(terminated=[2]))
        self.check(metrics, "advantage", (0.75, -1, 0))
        self.check(metrics, "target", (1.75, 1, 3))

    def test_where_an_episode_is_cut_off_the_value_of_its_final_observation_follows(
        self,
    ):
        """1 + 6 / 2 - 2 = 2 for the second step."""
        final = column(2.0, 6.0, 4.0)
        rows = trajectory(truncated=[2], final_observation=final)
        metrics = update(make(), rows)
        self.check(metrics, "advantage", (1.5, 2, 0))
        self.check(metrics, "target", (2.5, 4, 3))

    def test_rows_that_are_no_transitions_have_no_weight(self):
        """1 + 2 / 2 - 1 for the first step, whose chain passes over the second.

        The third is 0 as before.
        """
        nan = float("nan")
        rows = trajectory(
            reward=(1.0, nan, 1.0),
            observation=column(1.0, nan, 3.0),
            final_observation=column(2.0, nan, 4.0),
            valid=column(True, False, True),
        )
        algorithm = make()
        metrics = update(algorithm, rows)
        self.check(metrics, "advantage", (1, 0, 0))
        self.check(metrics, "weight", (1, 0, 1))
        # Of two errors, of 1 and 0.
        self.assertAlmostEqual(metrics["loss"], 0.25, 6)

    def test_advantages_alone_are_brought_to_mean_0_and_deviation_1(self):
        metrics = update(make(normalize_advantages=True))
        plain = np.array([1.125, 0.5, 0])
        expected = (plain - plain.mean()) / plain.std()
        self.check(metrics, "advantage", expected)
        self.check(metrics, "target", (2.125, 2.5, 3))

    def test_rewards_are_divided_by_the_deviation_seen_before_the_update(self):
        """The sums are 0, 4, 0 and 4, and their deviation 2."""
        algorithm = make(normalize_rewards=True, discount=0.0)
        for _ in range(2):
            rows = trajectory((0.0, 4.0, 9.0), valid=column(True, True, False))
            algorithm.warm_up(rows)
        metrics = update(algorithm, trajectory((6.0, 8.0, 1e9)))
        # At most 10, however large a reward is.
        self.check(metrics, "target", (3, 4, 10))

    def test_observations_are_normalized_by_what_was_seen_before_the_update(self):
        """Mean 2 and deviation 2: the values of 1, 2, 3 and 4 are -1/2, 0, 1/2, 1."""
        algorithm = make(normalize_observations=True, gae_lambda=0.0)
        rows = trajectory(observation=column(0.0, 4.0, 9.0))
        algorithm.warm_up(rows._replace(valid=column(True, True, False)))
        metrics = update(algorithm)
        self.check(metrics, "target", (1, 1.25, 1.5))


class UpdateTest(unittest.TestCase):
    """Steps, epochs and their end."""

    def test_the_loss_is_the_one_worked_out_and_a_step_goes_down_it(self):
        """Half the mean of 9 / 8, 1 / 2 and 0, squared; Adam steps by its rate."""
        algorithm = make()
        metrics = update(algorithm)
        self.assertAlmostEqual(metrics["loss"], (1.125**2 + 0.25) / 6, 6)
        # The mean of the errors times the observations.
        self.assertAlmostEqual(metrics["gradient_norm"], (1.125 + 2 * 0.5) / 3, 6)
        self.assertAlmostEqual(float(algorithm.network.weight), 1.1, 3)
        self.assertEqual(int(algorithm.optimizer.steps), 1)

    def test_each_epoch_estimates_advantages_anew_and_the_last_is_reported(self):
        """With weight 1.1 the errors are 1, 0.45 and -0.1."""
        metrics = update(make(update_epochs=2))
        third = -0.1
        second = 0.45 + third / 4
        for step, value in ((3, third), (2, second), (1, 1 + second / 4)):
            self.assertAlmostEqual(metrics[f"advantage_{step}"], value, 3)

    def test_a_minibatch_has_so_many_transitions_and_all_are_seen_once_an_epoch(self):
        algorithm = make(update_epochs=2, batch_size=2, learning_rate=1e-12)
        metrics = update(algorithm)
        self.assertEqual(int(algorithm.optimizer.steps), 4)
        # The mean of two minibatches.
        for step in range(1, STEPS + 1):
            self.assertEqual(metrics[f"weight_{step}"], 0.5)

    def test_after_a_no_nothing_is_changed_for_the_rest_of_the_update(self):
        algorithm = make(update_epochs=2, batch_size=1)
        algorithm.forbidden = 3
        metrics = update(algorithm)
        self.assertEqual(metrics["stopped"], 1)
        self.assertEqual(int(algorithm.calls), 6)
        self.assertEqual(int(algorithm.optimizer.steps), 2)
        # The next update begins anew.
        self.assertEqual(update(algorithm)["stopped"], 0)
        self.assertEqual(int(algorithm.optimizer.steps), 8)

    def test_a_no_at_once_changes_nothing_at_all(self):
        algorithm = make()
        algorithm.forbidden = 1
        metrics = update(algorithm)
        self.assertEqual(metrics["stopped"], 1)
        self.assertEqual(float(algorithm.network.weight), 1)
        self.assertGreater(metrics["gradient_norm"], 0)

    def test_finish_is_given_all_metrics_and_returns_those_that_are_reported(self):
        algorithm = make(learning_rate_schedule="linear")
        metrics = update(algorithm, progress=0.75)
        self.assertEqual(float(algorithm.finished), np.float32(metrics["loss"]))
        self.assertAlmostEqual(metrics["learning_rate"], 0.025)
        self.assertAlmostEqual(metrics["doubled"], 0.05)
        self.assertAlmostEqual(float(algorithm.network.weight), 1.025, 3)

    def test_a_subclass_reduces_gradients(self):
        norms = [update(make(kind))["gradient_norm"] for kind in (Learner, Doubles)]
        self.assertAlmostEqual(norms[1], 2 * norms[0], 5)

    def test_the_normalizers_move_on_after_the_update(self):
        """Observations are 1, 2 and 3; sums of rewards go on from one to the next."""
        algorithm = make(normalize_observations=True, normalize_rewards=True)
        self.assertAlmostEqual(update(algorithm)["target_3"], 3, 5)
        normalized = algorithm.observation_normalizer(tf.constant([2.0, 3.0, 4.0]))
        value, following = np.sqrt(1.5), 2 * np.sqrt(1.5)
        np.testing.assert_allclose(normalized, [0, value, following], 1e-5, 1e-6)
        sums = [1, 1.5, 1.75]
        for _ in range(2):
            weight = float(algorithm.network.weight)
            error = 1 / np.std(sums) + 0.5 * weight * following - weight * value
            self.assertAlmostEqual(update(algorithm)["advantage_3"], error, 4)
            for _ in range(STEPS):
                sums.append(1 + sums[-1] / 2)


if __name__ == "__main__":
    unittest.main()
