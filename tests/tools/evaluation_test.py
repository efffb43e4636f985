"""Whole episodes, equally many in each environment."""

import unittest

from agents.tools.evaluation import Evaluation
from tests.learner import Learner, LearnerSettings
from tests.tools.simulation_test import counters

SEED = [3, 4]


def evaluate(env, episodes):
    """Return the scores of an evaluation."""
    learner = Learner(LearnerSettings(), env)
    return Evaluation(env, learner, episodes).run(SEED)


class EvaluationTest(unittest.TestCase):
    """Counters of different lengths."""

    def test_short_episodes_are_not_counted_more_often(self):
        """Two of each, though 100 of the short ones would fit into one long one."""
        statistics = evaluate(counters(200, 2), 4)
        self.assertEqual(sorted(statistics.scores), [2, 2, 200, 200])
        self.assertEqual(sorted(statistics.lengths), [2, 2, 200, 200])

    def test_plays_at_least_the_episodes_asked_for(self):
        self.assertEqual(len(evaluate(counters(3, 3), 3).scores), 4)
        self.assertEqual(len(evaluate(counters(3, 3), 1).scores), 2)

    def test_what_is_raised_between_chunks_ends_it(self):
        env = counters(3)
        evaluation = Evaluation(env, Learner(LearnerSettings(), env), 1)

        def stop():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            evaluation.run(SEED, stop)


if __name__ == "__main__":
    unittest.main()
