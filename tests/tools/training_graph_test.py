"""One iteration a call, several, and carries that go on."""

import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.environments import classic_control
from agents.environments.dynamics_env import DynamicsEnv
from agents.tools.evaluation import Evaluation
from agents.tools.faults import EnvironmentFault
from agents.tools.training_graph import KeptCarry, TrainingGraph
from tests.learner import Learner, LearnerSettings


class Drift:
    """Adds the number of its environment in each step; nothing ends it but a limit."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    max_length = 5

    def __init__(self, log_at=-1.0):
        """Earn the logarithm of the state, less `log_at`: a NaN below that."""
        self._log_at = log_at

    def start(self, seed, count):
        """Start at 1, 2, 3 ..."""
        del seed
        return tf.range(1.0, count + 1.0)

    def step(self, state, action):
        """Add 1, 2, 3 ..."""
        del action
        state += tf.range(1.0, state.shape[0] + 1.0)
        reward = tf.math.log(self._log_at - state) if self._log_at > 0 else state
        return state, reward, tf.zeros_like(state, tf.bool)

    def observe(self, state):
        """Return the number."""
        return state[:, None]


def make(dynamics=None, num_envs=2):
    """Return a graph and its learner: 4 steps of each environment an iteration."""
    dynamics = dynamics or classic_control.dynamics("CartPole-v1")
    env = DynamicsEnv(dynamics, num_envs, None)
    learner = Learner(LearnerSettings(), env)
    return TrainingGraph(env, learner), learner


def seeds(*numbers):
    """Return a seed for each number."""
    return [[7, number] for number in numbers]


class TrainingGraphTest(unittest.TestCase):
    """Compiled environments."""

    def test_iterations_in_one_call_equal_calls_of_one(self):
        one, learner_of_one = make()
        carry, scores = one.start([1, 2]), []
        for i in range(12):
            carry, episodes, metrics = one.iterate(carry, seeds(i), [i / 12], False)
            scores.append(episodes.score[episodes.ended])
        three, learner_of_three = make()
        other, other_scores = three.start([1, 2]), []
        for i in range(0, 12, 3):
            progress = [(i + j) / 12 for j in range(3)]
            other, episodes, metrics = three.iterate(
                other, seeds(i, i + 1, i + 2), progress, False
            )
            other_scores.append(episodes.score[episodes.ended])
        self.assertEqual(float(learner_of_one.weight), float(learner_of_three.weight))
        np.testing.assert_array_equal(
            np.concatenate(scores), np.concatenate(other_scores)
        )
        self.assertEqual(metrics["loss"].shape, (3,))
        once = {"start": 1, "iterate": 1, "warm_up": 0}
        self.assertEqual(one.tracing_counts(), once)
        self.assertEqual(three.tracing_counts(), once)

    def test_only_the_last_of_several_iterations_is_cut_off(self):
        weights = []
        for last in ([False, False], [False, True], [True, True]):
            graph, learner = make()
            carry = graph.start([1, 2])
            for i, cut in enumerate(last):
                carry, *_ = graph.iterate(carry, seeds(i), [0.0], cut)
            weights.append(float(learner.weight))
        graph, learner = make()
        graph.iterate(graph.start([1, 2]), seeds(0, 1), [0.0, 0.0], True)
        self.assertEqual(float(learner.weight), weights[1])
        self.assertEqual(len(set(weights)), 3)

    def test_a_kept_carry_goes_on_as_if_it_had_never_been_kept(self):
        graph, learner = make()
        carry, *_ = graph.iterate(graph.start([1, 2]), seeds(0), [0.0], False)
        checkpoint = tf.train.Checkpoint(kept=graph.kept, learner=learner)
        graph.kept.assign(carry)
        values = [variable.numpy() for variable in graph.kept.variables]
        graph.iterate(carry, seeds(1), [0.0], False)
        expected = float(learner.weight)

        graph, learner = make()
        for variable, value in zip(graph.kept.variables, values, strict=True):
            variable.assign(value)
        learner.weight.assign(checkpoint.learner.weight)
        first, first_learner = make()
        first.iterate(first.start([1, 2]), seeds(0), [0.0], False)
        learner.weight.assign(first_learner.weight)
        graph.iterate(graph.kept.read(), seeds(1), [0.0], False)
        self.assertEqual(float(learner.weight), expected)

    def test_a_reward_that_is_no_number_names_environment_and_step(self):
        """Environment 2 gets to 9, 12 in steps 2, 3: 12 is above 10 first."""
        graph, _ = make(Drift(log_at=10.0), 3)
        with self.assertRaisesRegex(
            EnvironmentFault, "Environment 2 gave a reward .* in step 3 after"
        ):
            graph.iterate(graph.start([1, 2]), seeds(0, 1), [0.0, 0.0], False)

    def test_steps_are_counted_over_iterations(self):
        """The numbers of the one environment are 2, 3, 4, 5, 6, and 1 again."""
        graph, _ = make(Drift(log_at=5.5), 1)
        with self.assertRaisesRegex(EnvironmentFault, "in step 5 after"):
            graph.iterate(graph.start([1, 2]), seeds(0, 1), [0.0, 0.0], False)

    def test_what_was_traced_ahead_is_not_traced_again(self):
        graph, learner = make()
        evaluation = Evaluation(
            classic_control.make("CartPole-v1", 1, None), learner, 1
        )
        graph.trace()
        evaluation.trace()
        self.assertEqual(float(learner.weight), 0)
        graph.warm_up([1, 2])
        carry, *_ = graph.iterate(graph.start([1, 2]), seeds(0), [0.0], False)
        graph.iterate(carry, seeds(1, 2), [0.0, 0.5], True)
        evaluation.run([1, 2])
        once = {"start": 1, "iterate": 1, "warm_up": 1}
        self.assertEqual(graph.tracing_counts(), once)
        self.assertEqual(evaluation.tracing_counts(), {"start": 1, "play": 1})

    def test_a_warm_up_is_checked_as_well(self):
        graph, _ = make(Drift(log_at=5.5), 2)
        with self.assertRaisesRegex(EnvironmentFault, "Environment 1 gave a reward"):
            graph.warm_up([1, 2])

    def test_an_evaluation_is_checked_as_well(self):
        env = DynamicsEnv(Drift(log_at=5.5), 2, None)
        evaluation = Evaluation(env, Learner(LearnerSettings(), env), 2)
        with self.assertRaisesRegex(
            EnvironmentFault, "Environment 1 gave a reward .*in an evaluation"
        ):
            evaluation.run([1, 2])

    def test_environments_are_not_blamed_for_what_follows_from_an_update(self):
        """The loss of the first iteration is no number, the reward of the second."""
        env = DynamicsEnv(Drift(log_at=5.5), 1, None)
        graph = TrainingGraph(env, Learner(LearnerSettings(loss=np.nan), env))
        _, _, metrics = graph.iterate(
            graph.start([1, 2]), seeds(0, 1), [0.0, 0.0], False
        )
        self.assertTrue(np.isnan(metrics["loss"]).all())


class KeptCarryTest(unittest.TestCase):
    """Nests of any dtype."""

    def test_what_is_assigned_is_read(self):
        carry = (tf.constant([True, False]), {"a": tf.constant([3], tf.uint32)})
        specs = tf.nest.map_structure(tf.type_spec_from_value, carry)
        kept = KeptCarry(specs)
        kept.assign(carry)
        read = kept.read()
        np.testing.assert_array_equal(read[0], [True, False])
        np.testing.assert_array_equal(read[1]["a"], [3])


if __name__ == "__main__":
    unittest.main()
