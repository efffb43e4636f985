"""Tracing ahead of the first call."""

import unittest

import tensorflow as tf

from agents.tools.evaluation import Evaluation
from agents.tools.training_graph import TrainingGraph
from tests.learner import Learner, LearnerSettings
from tests.tools.simulation_test import counters

SEED = tf.constant([3, 4])


class TraceTest(unittest.TestCase):
    """Counters, and a learner that counts."""

    def test_what_was_traced_ahead_is_not_traced_again(self):
        env = counters(3)
        learner = Learner(LearnerSettings(), env)
        graph, evaluation = TrainingGraph(env, learner), Evaluation(env, learner, 1)
        self.assertEqual(set(graph.tracing_counts().values()), {0})
        graph.trace(SEED)
        evaluation.trace(SEED)
        self.assertEqual(learner.weight, 0)
        graph.warm_up(SEED)
        carry, _, _ = graph.iterate(graph.start(SEED), SEED, 0.0, last=False)
        graph.iterate(carry, SEED, 0.5, last=True)
        evaluation.run(SEED)
        once = {"start": 1, "iterate": 1, "warm_up": 1}
        self.assertEqual(graph.tracing_counts(), once)
        self.assertEqual(evaluation.tracing_counts(), {"start": 1, "play": 1})


if __name__ == "__main__":
    unittest.main()
