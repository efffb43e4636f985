"""A memory of steps that are numbered by their rewards."""

import unittest

import numpy as np
import tensorflow as tf

from agents.parts.replay import ReplayMemory, Row, size_in_bytes

SEED = tf.constant([1, 2])
FLAG = tf.TensorSpec([], tf.bool)
NUMBER = tf.TensorSpec([], tf.float32)
SPECS = Row(
    observation=NUMBER,
    action=tf.TensorSpec([], tf.int64),
    reward=NUMBER,
    terminated=FLAG,
    truncated=FLAG,
    final_observation=NUMBER,
    valid=FLAG,
)


def rows(first, last, envs=1, terminated=(), truncated=(), invalid=()):
    """Return steps first to last - 1: observation and reward i, and i + 1 after it."""
    number = np.arange(first, last, dtype=np.float32)
    numbers = tf.constant(np.stack([number + 100 * env for env in range(envs)], 1))

    def flags(where):
        return tf.constant(np.stack([np.isin(number, where)] * envs, 1))

    return Row(
        observation=numbers,
        action=tf.cast(numbers, tf.int64),
        reward=numbers,
        terminated=flags(terminated),
        truncated=flags(truncated),
        final_observation=numbers + 1,
        valid=~flags(invalid),
    )


def memory(*appended, capacity=8, envs=1, prioritized=False):
    """Return a memory that holds some rows."""
    made = ReplayMemory(SPECS, envs, capacity, prioritized)
    for part in appended:
        made.append(part)
    return made


def by_observation(made, n_step=1, discount=0.5, size=200):
    """Return (reward, discount, next observation, weight) of all samples."""
    batch = made.sample(SEED, size, discount, n_step)
    values = zip(
        batch.reward.numpy(),
        batch.discount.numpy(),
        batch.next_observation.numpy(),
        batch.weight.numpy(),
        strict=True,
    )
    return dict(zip(batch.observation.numpy(), values, strict=True))


class ReplayTest(unittest.TestCase):
    """What is written, and what is drawn."""

    def test_holds_what_was_appended_last(self):
        made = memory(rows(0, 5))
        self.assertEqual(int(made.count), 5)
        self.assertEqual(set(by_observation(made)), {0, 1, 2, 3, 4})
        made.append(rows(5, 10))
        self.assertEqual(int(made.count), 8)
        self.assertEqual(set(by_observation(made)), set(range(2, 10)))

    def test_more_than_it_holds_leaves_the_last(self):
        self.assertEqual(
            set(by_observation(memory(rows(0, 11), capacity=3))), {8, 9, 10}
        )

    def test_environments_stay_apart(self):
        drawn = by_observation(memory(rows(0, 3, envs=2), envs=2), n_step=2)
        self.assertEqual(drawn[0], (0.5, 0.25, 2, 1))
        self.assertEqual(drawn[100], (150.5, 0.25, 102, 1))
        self.assertEqual(set(drawn), {0, 1, 2, 100, 101, 102})

    def test_a_step_bootstraps_unless_the_task_ended(self):
        drawn = by_observation(memory(rows(0, 3, terminated=[1], truncated=[2])))
        self.assertEqual(drawn[0], (0, 0.5, 1, 1))
        self.assertEqual(drawn[1], (1, 0, 2, 1))
        self.assertEqual(drawn[2], (2, 0.5, 3, 1))

    def test_rewards_of_n_steps_are_summed_up_to_an_end(self):
        """With discount 1/2: 1 + 2/2 + 3/4 = 2.75."""
        made = memory(rows(0, 7, terminated=[4], truncated=[5]))
        drawn = by_observation(made, n_step=3)
        self.assertEqual(drawn[1], (2.75, 0.125, 4, 1))
        self.assertEqual(drawn[3], (5, 0, 5, 1))
        self.assertEqual(drawn[4], (4, 0, 5, 1))
        self.assertEqual(drawn[5], (5, 0.5, 6, 1))

    def test_the_newest_step_is_not_followed_by_the_oldest(self):
        drawn = by_observation(memory(rows(0, 6), rows(6, 10)), n_step=3)
        self.assertEqual(drawn[9], (9, 0.5, 10, 1))
        self.assertEqual(drawn[8], (12.5, 0.25, 10, 1))

    def test_the_newest_step_is_not_followed_by_what_is_empty(self):
        self.assertEqual(by_observation(memory(rows(0, 3)), 3)[2], (2, 0.5, 3, 1))

    def test_what_is_no_transition_has_no_weight_and_follows_nothing(self):
        drawn = by_observation(memory(rows(0, 4, invalid=[2])), n_step=3)
        self.assertEqual(drawn[1], (1, 0.5, 2, 1))
        self.assertEqual(drawn[2][-1], 0)
        self.assertEqual(drawn[3], (3, 0.5, 4, 1))

    def test_compiled_it_is_the_same(self):
        made = ReplayMemory(SPECS, 1, 8, True)
        compiled = tf.function(made.append, jit_compile=True)
        for first in (0, 5):
            compiled(rows(first, first + 5, truncated=[6]))
        expected = memory(rows(0, 5), rows(5, 10, truncated=[6]))
        self.assertEqual(by_observation(made, 3), by_observation(expected, 3))

    def test_its_size_is_that_of_its_arrays(self):
        """3 floats, a long and 3 flags: 23 bytes; 4 for a priority."""
        self.assertEqual(size_in_bytes(SPECS, 1000, False), 23_000)
        self.assertEqual(size_in_bytes(SPECS, 1000, True), 27_000)
        made = memory(capacity=1280, prioritized=True)
        arrays = [v for v in made.variables if v.shape.rank]
        size = sum(v.shape.num_elements() * v.dtype.size for v in arrays)
        self.assertLess(abs(size / size_in_bytes(SPECS, 1280, True) - 1), 0.02)


class PrioritizedTest(unittest.TestCase):
    """Some are drawn more often, and count for less."""

    def test_new_ones_are_as_likely_as_the_likeliest(self):
        made = memory(rows(0, 2), prioritized=True)
        made.set_priorities(tf.constant([0]), tf.constant([3.0]))
        made.append(rows(2, 3))
        batch = made.sample(SEED, 7000, 0.5)
        shares = np.bincount(batch.observation.numpy().astype(int)) / 7000
        np.testing.assert_allclose(shares, [3 / 7, 1 / 7, 3 / 7], atol=1e-3)

    def test_weights_make_up_for_it(self):
        """Equation 1 of Schaul et al.: (P / least P) ** -beta."""
        made = memory(rows(0, 2), prioritized=True)
        made.set_priorities(tf.constant([0]), tf.constant([4.0]))
        for exponent, expected in ((0.0, 1.0), (0.5, 0.5), (1.0, 0.25)):
            batch = made.sample(SEED, 20, 0.5, importance_exponent=exponent)
            drawn = dict(
                zip(batch.observation.numpy(), batch.weight.numpy(), strict=True)
            )
            self.assertEqual(drawn, {0: expected, 1: 1})

    def test_what_is_no_transition_is_never_drawn(self):
        made = memory(rows(0, 4, invalid=[2]), prioritized=True)
        made.set_priorities(tf.constant([2]), tf.constant([9.0]))
        self.assertEqual(set(by_observation(made)), {0, 1, 3})


if __name__ == "__main__":
    unittest.main()
