"""What is drawn from two memories, and what room they take."""

import contextlib
import io
import unittest
from unittest import mock

import gymnasium
import numpy as np
import tensorflow as tf

from agents.algorithms import experience
from agents.algorithms.experience import Experience, row_specs
from agents.algorithms.settings import OffPolicySettings
from agents.parts.replay import Row
from agents.parts.settings import SettingError
from tests import environments
from tests.algorithms.demonstrations_test import CHOICE, NUMBER, DataSets, episode

SEED = tf.constant([1, 2])


def make(spaces=(NUMBER, CHOICE), **settings):
    """Return the experience of one environment, and what was said of its room."""
    settings = {"batch_size": 8, "discount": 0.5, "replay_capacity": 4} | settings
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        made = Experience(OffPolicySettings(**settings), *spaces, 1)
    return made, printed.getvalue()


def append(made, *numbers):
    """Append steps in which a number was observed, and is the reward."""
    number = tf.constant(numbers)[:, None]
    flag = tf.zeros_like(number, tf.bool)
    made.own.append(
        Row(
            observation=number[..., None],
            action=tf.zeros_like(number, tf.int64),
            reward=number,
            terminated=flag,
            truncated=flag,
            final_observation=number[..., None] + 1,
            valid=~flag,
        )
    )


def observed(batch):
    """Return what was observed in each sample of a minibatch."""
    return batch.observation[:, 0].numpy().tolist()


class RoomTest(DataSets):
    """A transition has two observations and a reward of 4 bytes, an action of 8 and
    three flags: 23 bytes; a priority has 4."""

    def refuse(self, message, **settings):
        """Expect an error of one line that begins so, before any room is taken."""
        with (
            mock.patch.object(experience, "ReplayMemory") as memory,
            self.assertRaises(SettingError) as raised,
        ):
            make(**settings)
        memory.assert_not_called()
        self.assertEqual(str(raised.exception), message)

    def test_the_room_is_said(self):
        for settings, text in (
            (
                {"replay_capacity": 1000},
                "1,000 transitions take 23,000 bytes of memory, and twice that to be "
                "saved.\n",
            ),
            (
                {"replay_capacity": 1000, "save_replay": False},
                "1,000 transitions take 23,000 bytes of memory.\n",
            ),
            (
                {"priority_exponent": 0.6, "save_replay": False},
                "4 transitions take 108 bytes of memory.\n",
            ),
        ):
            self.assertEqual(make(**settings)[1], f"Replay memory: {text}")

    def test_demonstrations_take_room_as_well(self):
        name = self.store(episode(0, 100))
        printed = make(demonstrations=name, save_replay=False, priority_exponent=1.0)[1]
        self.assertEqual(
            printed,
            "Replay memory: 4 transitions take 108 bytes of memory, demonstrations "
            "2,300 more.\n",
        )

    def test_too_much_is_an_error_that_says_how_many_would_fit(self):
        """100,000 / 23 = 4347.8."""
        self.refuse(
            "10,000 transitions take 230,000 bytes of memory, and twice that to be "
            "saved, but replay_limit is 0.0001 GB: set replay_capacity to 4,347 or "
            "less, or raise replay_limit.",
            replay_capacity=10_000,
            replay_limit=0.0001,
        )
        make(replay_capacity=4347, replay_limit=0.0001)
        with self.assertRaises(SettingError):
            make(replay_capacity=4348, replay_limit=0.0001)

    def test_demonstrations_leave_less_room(self):
        """Of 100,000 bytes they take 2,300, which leaves room for 4247.8."""
        name = self.store(episode(0, 100))
        self.refuse(
            "4,300 transitions take 98,900 bytes of memory, demonstrations 2,300 more, "
            "but replay_limit is 0.0001 GB: set replay_capacity to 4,247 or less, or "
            "raise replay_limit.",
            demonstrations=name,
            replay_capacity=4300,
            replay_limit=0.0001,
            save_replay=False,
        )

    def test_where_demonstrations_alone_take_too_much_no_capacity_helps(self):
        name = self.store(episode(0, 100))
        self.refuse(
            "4 transitions take 92 bytes of memory, demonstrations 2,300 more, but "
            "replay_limit is 2e-06 GB: raise replay_limit.",
            demonstrations=name,
            replay_limit=2e-6,
            save_replay=False,
        )


class SampleTest(DataSets):
    """The environment's observations are above 100, those of demonstrations below."""

    def setUp(self):
        super().setUp()
        self.store(episode(0, 3, [0, 1, 2]))

    def make(self, *numbers, **settings):
        """Return experience that holds numbers, beside three demonstrations."""
        made, _ = make(demonstrations="pole/best-v0", **settings)
        append(made, *numbers)
        return made

    def test_without_demonstrations_all_are_the_agent_s_own(self):
        made, _ = make()
        append(made, 101.0, 102.0)
        drawn = observed(made.sample(SEED, 1.0))
        self.assertEqual(len(drawn), 8)
        self.assertEqual(set(drawn), {101, 102})

    def test_a_share_of_each_minibatch_is_demonstrations_and_comes_last(self):
        for share, own in ((0.25, 6), (0.5, 4), (1.0, 0), (0.0, 8), (0.05, 8)):
            made = self.make(101.0, 102.0, demonstration_share=share)
            expected = [True] * own + [False] * (8 - own)
            for step in range(5):
                batch = made.sample(tf.constant([3, step]), 1.0)
                self.assertEqual([number > 100 for number in observed(batch)], expected)
                # Where the task ended, nothing follows.
                self.assertEqual((batch.discount.numpy() > 0).tolist(), expected)

    def test_rewards_of_both_are_summed_over_n_steps(self):
        name = self.store(episode(1, 3), name="pole/other-v0")
        made, _ = make(demonstrations=name, n_step=2, batch_size=80)
        append(made, 101.0, 102.0)
        batch = made.sample(SEED, 1.0)
        rewards = dict(zip(observed(batch), batch.reward.numpy(), strict=True))
        self.assertEqual(rewards, {1: 2, 2: 2, 101: 152, 102: 102})

    def test_other_seeds_draw_others_and_from_each_memory_by_itself(self):
        made = self.make(101.0, 102.0, 103.0, demonstration_share=0.5, batch_size=40)
        first, second = (
            observed(made.sample(SEED, 1.0)),
            observed(made.sample(SEED, 1.0)),
        )
        self.assertEqual(first, second)
        self.assertNotEqual(first, observed(made.sample(SEED + 1, 1.0)))
        self.assertNotEqual([number - 101 for number in first[:20]], first[20:])


class PriorityTest(DataSets):
    """Two transitions of the environment, and one demonstration."""

    def make(self, **settings):
        """Return experience whose minibatches hold five own samples and five others."""
        name = self.store(episode(0, 1, [0]))
        settings = {"batch_size": 10, "demonstration_share": 0.5} | settings
        made, _ = make(demonstrations=name, replay_capacity=2, **settings)
        append(made, 101.0, 102.0)
        return made

    def set(self, made, first, second):
        """Say that the first was in error by so much, and the second, and all others.

        A demonstration has the index of the first.
        """
        index = tf.constant([0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
        made.set_priorities(
            index, tf.constant([first, second] * 2 + [first] + [1e6] * 5)
        )

    def test_only_own_samples_have_priorities_by_their_errors_to_an_exponent(self):
        made = self.make(priority_exponent=0.5)
        self.set(made, -16.0, 1.0)
        batch = made.sample(SEED, 0.5)
        self.assertEqual(observed(batch), [101] * 4 + [102] + [0] * 5)
        np.testing.assert_allclose(batch.weight, [0.5] * 4 + [1] * 6, rtol=1e-5)

    def test_without_an_error_a_transition_is_still_drawn(self):
        made = self.make(priority_exponent=1.0)
        self.set(made, 0.0, 0.0)
        self.assertEqual(set(observed(made.sample(SEED, 0.5))[:5]), {101, 102})

    def test_without_an_exponent_errors_change_nothing(self):
        made = self.make(batch_size=10)
        before = observed(made.sample(SEED, 0.5))
        self.set(made, 1e6, 1.0)
        self.assertEqual(observed(made.sample(SEED, 0.5)), before)

    def test_a_minibatch_of_demonstrations_only_sets_none(self):
        made = self.make(priority_exponent=0.5, demonstration_share=1.0)
        self.set(made, 16.0, 1.0)
        own = made.own.sample(SEED, 1000, 0.5)
        self.assertAlmostEqual(np.mean(observed(own)), 101.5, delta=0.01)


class RowSpecsTest(unittest.TestCase):
    """What is kept of a step of an environment."""

    def test_leaves_are_kept_as_they_travel(self):
        """Images stay bytes, whole numbers are not encoded yet."""
        space = environments.Nested.observation_space
        specs = row_specs(space, gymnasium.spaces.Box(-1, 1, (3,), np.float64))
        observation = {
            "image": tf.TensorSpec([2, 2], tf.uint8),
            "pair": (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.float32)),
        }
        flag = tf.TensorSpec([], tf.bool)
        self.assertEqual(
            specs,
            Row(
                observation=observation,
                action=tf.TensorSpec([3], tf.float64),
                reward=tf.TensorSpec([], tf.float32),
                terminated=flag,
                truncated=flag,
                final_observation=observation,
                valid=flag,
            ),
        )

    def test_images_take_a_byte_for_each_number(self):
        """Two of 4 + 8 + 4 bytes, an action of 8, a reward of 4 and three flags: 47."""
        spaces = environments.Nested.observation_space, CHOICE
        _, printed = make(spaces, save_replay=False)
        self.assertIn("4 transitions take 188 bytes of memory.", printed)


if __name__ == "__main__":
    unittest.main()
