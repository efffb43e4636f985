"""Advantages worked out by hand."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.advantages import discounted_sums, generalized_advantage


def advantages(
    reward, value, next_value, terminated=(), truncated=(), invalid=(), **how
):
    """Estimate for one environment; ends and invalid rows are given by their index."""
    steps = range(len(reward))
    flags = [
        [[step in rows] for step in steps] for rows in (terminated, truncated, invalid)
    ]
    estimated = generalized_advantage(
        tf.constant(reward, tf.float32)[:, None],
        tf.constant(value, tf.float32)[:, None],
        tf.constant(next_value, tf.float32)[:, None],
        tf.constant(flags[0]),
        tf.constant(flags[1]),
        ~tf.constant(flags[2]),
        **how,
    )
    return estimated.numpy()[:, 0]


class GeneralizedAdvantageTest(unittest.TestCase):
    """Cases 1, 2 and 6 among them."""

    def test_sums_discounted_deltas(self):
        # Deltas: 1 + 0.5 * 4 - 2 = 1, 2 + 0.5 * 6 - 4 = 1, 3 + 0.5 * 8 - 6 = 1.
        estimated = advantages(
            [1, 2, 3], [2, 4, 6], [4, 6, 8], discount=0.5, gae_lambda=0.5
        )
        np.testing.assert_allclose(estimated, [1.3125, 1.25, 1.0])

    def test_lambda_0_is_the_one_step_error(self):
        estimated = advantages(
            [1, 2, 3], [2, 4, 6], [4, 6, 8], discount=0.5, gae_lambda=0.0
        )
        np.testing.assert_allclose(estimated, [1, 1, 1])

    def test_lambda_1_is_the_return_minus_the_value(self):
        estimated = advantages(
            [1, 1, 1], [5, 5, 5], [5, 5, 0], (2,), discount=1.0, gae_lambda=1.0
        )
        np.testing.assert_allclose(estimated, [3 - 5, 2 - 5, 1 - 5])

    def test_truncation_is_not_death(self):
        """One state, reward 1, limit 5, discount 0.9, value 10: nothing to gain."""
        tens = [10.0] * 10
        estimated = advantages(
            [1] * 10, tens, tens, truncated=(4, 9), discount=0.9, gae_lambda=0.95
        )
        np.testing.assert_allclose(estimated, np.zeros(10), atol=1e-5)

    def test_truncation_cuts_the_chain(self):
        estimated = advantages(
            [0, 7], [0, 0], [0, 0], truncated=(0,), discount=1.0, gae_lambda=1.0
        )
        np.testing.assert_allclose(estimated, [0, 7])

    def test_termination_is_worth_0_and_cuts_the_chain(self):
        estimated = advantages(
            [1, 7], [0, 0], [100, 0], terminated=(0,), discount=1.0, gae_lambda=1.0
        )
        np.testing.assert_allclose(estimated, [1, 7])

    def test_termination_wins_over_truncation(self):
        estimated = advantages(
            [1], [0], [100], (0,), (0,), discount=1.0, gae_lambda=1.0
        )
        np.testing.assert_allclose(estimated, [1])

    def test_rows_that_are_no_transitions_are_passed_over(self):
        estimated = advantages(
            [1, 50, 1], [0, 50, 0], [0, 50, 0], invalid=(1,), discount=1, gae_lambda=0.5
        )
        np.testing.assert_allclose(estimated, [1.5, 0, 1])

    def test_an_episode_that_was_lost_cuts_the_chain(self):
        # Of the row before it, only its own value of what follows remains.
        estimated = advantages(
            [1, 0, 8],
            [0, 0, 0],
            [4, 0, 0],
            truncated=(1, 2),
            invalid=(1,),
            discount=0.5,
            gae_lambda=1.0,
        )
        np.testing.assert_allclose(estimated, [3, 0, 8])

    def test_agrees_with_the_definition_step_by_step(self):
        draw = np.random.default_rng(0)
        for time in (1, 2, 3, 7, 64, 100):
            reward, value, next_value = draw.normal(size=(3, time))
            terminated, truncated = draw.random((2, time)) < 0.1
            expected, following = np.zeros(time), 0.0
            for t in reversed(range(time)):
                bootstrap = 0 if terminated[t] else next_value[t]
                goes_on = not (terminated[t] or truncated[t])
                delta = reward[t] + 0.9 * bootstrap - value[t]
                expected[t] = following = delta + 0.9 * 0.8 * goes_on * following
            estimated = advantages(
                reward,
                value,
                next_value,
                np.flatnonzero(terminated),
                np.flatnonzero(truncated),
                discount=0.9,
                gae_lambda=0.8,
            )
            np.testing.assert_allclose(estimated, expected, rtol=1e-4, atol=1e-5)


class DiscountedSumsTest(unittest.TestCase):
    """What reward scaling rests on."""

    def test_sums_start_over_at_each_episode_and_go_on_at_the_end(self):
        sums, accumulator = discounted_sums(
            tf.constant([8.0]),
            tf.ones([4, 1]),
            tf.constant([[False], [True], [False], [False]]),
            tf.ones([4, 1], tf.bool),
            0.5,
        )
        np.testing.assert_allclose(sums.numpy()[:, 0], [5.0, 3.5, 1.0, 1.5])
        np.testing.assert_allclose(accumulator, [1.5])

    def test_what_is_no_number_stays_in_its_episode(self):
        sums, accumulator = discounted_sums(
            tf.constant([0.0]),
            tf.constant([[1.0], [np.nan], [1.0], [np.inf]]),
            tf.constant([[False], [True], [False], [True]]),
            tf.ones([4, 1], tf.bool),
            0.5,
        )
        np.testing.assert_array_equal(sums.numpy()[[0, 2, 3], 0], [1, 1, np.inf])
        np.testing.assert_array_equal(accumulator, [0])

    def test_rows_that_are_no_transitions_change_nothing(self):
        sums, accumulator = discounted_sums(
            tf.constant([2.0]),
            tf.constant([[100.0], [1.0]]),
            tf.constant([[False], [False]]),
            tf.constant([[False], [True]]),
            0.5,
        )
        np.testing.assert_allclose(sums.numpy()[:, 0], [2.0, 2.0])
        np.testing.assert_allclose(accumulator, [2.0])

    def test_an_episode_that_was_lost_is_not_gone_on_with(self):
        sums, accumulator = discounted_sums(
            tf.constant([2.0]),
            tf.constant([[100.0], [1.0]]),
            tf.constant([[True], [False]]),
            tf.constant([[False], [True]]),
            0.5,
        )
        np.testing.assert_allclose(sums.numpy()[:, 0], [2.0, 1.0])
        np.testing.assert_allclose(accumulator, [1.0])


if __name__ == "__main__":
    unittest.main()
