"""Data sets of Minari, made by hand in a temporary folder."""

import importlib.util
import json
import os
import pathlib
import tempfile
import unittest
import warnings
from unittest import mock

import gymnasium
import h5py
import minari
import numpy as np
import tensorflow as tf
from minari.data_collector import EpisodeBuffer
from minari.storage import hosting

from agents.algorithms.demonstrations import Demonstrations
from agents.algorithms.experience import row_specs
from agents.parts.settings import SettingError
from tests import environments

NUMBER = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
CHOICE = gymnasium.spaces.Discrete(10)
SEED = tf.constant([1, 2])


class DataSets(unittest.TestCase):
    """Where Minari looks for data sets is empty at first."""

    def setUp(self):
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "data sets"
        )
        variable = {"MINARI_DATASETS_PATH": str(self.folder)}
        self.enterContext(mock.patch.dict(os.environ, variable))

    def store(self, *episodes, name="pole/best-v0", spaces=(NUMBER, CHOICE)):
        """Make a data set of episodes, which `episode` returns; return its name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            minari.create_dataset_from_buffers(
                name,
                [EpisodeBuffer(id=i, **part) for i, part in enumerate(episodes)],
                observation_space=spaces[0],
                action_space=spaces[1],
            )
        return name


def episode(first, last, terminated=(), truncated=(), **changes):
    """Return steps first to last - 1: all numbers of step i are i, and i + 1 after it.

    Args:
        first: step.
        last: one more than the last step.
        terminated: steps in which the task ended.
        truncated: steps in which the episode was cut off.
        changes: what is not so.
    """
    number = np.arange(first, last)
    return {
        "observations": np.arange(first, last + 1, dtype=np.float32)[:, None],
        "actions": number,
        "rewards": number.astype(float),
        "terminations": np.isin(number, terminated),
        "truncations": np.isin(number, truncated),
    } | changes


def drawn(name, n_step=1, spaces=(NUMBER, CHOICE)):
    """Return (action, reward, discount, next observation) by observation, of all."""
    found = Demonstrations(name, *spaces).memory(row_specs(*spaces))
    batch = found.sample(SEED, 200, 0.5, n_step)
    rows = zip(
        batch.action.numpy(),
        batch.reward.numpy(),
        batch.discount.numpy(),
        batch.next_observation[:, 0].numpy(),
        strict=True,
    )
    return dict(zip(batch.observation[:, 0].numpy(), rows, strict=True))


class TransitionsTest(DataSets):
    """What is read."""

    def test_all_transitions_are_there_and_no_other(self):
        name = self.store(episode(0, 2, [1]), episode(5, 8, [7]))
        self.assertEqual(Demonstrations(name, NUMBER, CHOICE).transitions, 5)
        expected = {
            0: (0, 0, 0.5, 1),
            1: (1, 1, 0, 2),
            5: (5, 5, 0.5, 6),
            6: (6, 6, 0.5, 7),
            7: (7, 7, 0, 8),
        }
        self.assertEqual(drawn(name), expected)

    def test_only_where_the_task_ended_nothing_follows(self):
        """Where both are said, it did end."""
        name = self.store(
            episode(0, 1, [0]), episode(2, 3, [], [2]), episode(4, 5, [4], [4])
        )
        discounts = {key: row[2] for key, row in drawn(name).items()}
        self.assertEqual(discounts, {0: 0, 2: 0.5, 4: 0})

    def test_the_last_row_of_an_episode_is_never_followed_by_another_episode(self):
        """Not even where a data set says of neither end that it was reached."""
        name = self.store(episode(0, 3), episode(3, 5, [4]))
        for n_step in (1, 3):
            rows = drawn(name, n_step)
            self.assertEqual(rows[2], (2, 2, 0.5, 3))
            self.assertEqual(rows[4], (4, 4, 0, 5))
        # 1 + 2 / 2, and then the value of 3.
        self.assertEqual(rows[1], (1, 2, 0.25, 3))
        # 3 + 4 / 2, and the task ended.
        self.assertEqual(rows[3], (3, 5, 0, 5))

    def test_an_end_within_an_episode_is_one(self):
        rows = drawn(self.store(episode(0, 4, [1], [3])), 3)
        self.assertEqual(rows[0], (0, 0.5, 0, 2))
        self.assertEqual(rows[1], (1, 1, 0, 2))

    def test_nested_observations_are_read_leaf_by_leaf(self):
        spaces = environments.Nested.observation_space, CHOICE
        count = np.arange(4)
        observations = {
            "image": np.tile(count[:, None, None], (1, 2, 2)).astype(np.uint8),
            "pair": (count % 5, count / 2),
        }
        name = self.store(episode(0, 3, observations=observations), spaces=spaces)
        batch = (
            Demonstrations(name, *spaces)
            .memory(row_specs(*spaces))
            .sample(SEED, 50, 0.5)
        )
        before = batch.action.numpy()
        self.assertEqual(set(before), {0, 1, 2})
        for count, nest in (
            (before, batch.observation),
            (before + 1, batch.next_observation),
        ):
            np.testing.assert_array_equal(nest["image"][:, 1, 0], count)
            np.testing.assert_array_equal(nest["pair"][0], count)
            np.testing.assert_array_equal(nest["pair"][1], count / 2)

    def test_numbers_are_read_as_the_environment_has_them(self):
        """Many data sets hold float64, whatever their spaces say."""
        bounded = gymnasium.spaces.Box(-1, 1, (2,))
        actions = np.array([[0.5, -1], [0, 1]], np.float64)
        observations = np.array([[0], [1], [2]], np.float64)
        name = self.store(
            episode(0, 2, actions=actions, observations=observations),
            spaces=(NUMBER, bounded),
        )
        rows = drawn(name, spaces=(NUMBER, bounded))
        self.assertEqual(rows[0][0].dtype, np.float32)
        self.assertEqual(rows[0][0].tolist(), [0.5, -1])
        self.assertEqual(rows[1][0].tolist(), [0, 1])

    def test_whole_numbers_of_the_environment_may_be_of_another_size(self):
        """A data set does not say of what size those of a Discrete space are."""
        small = gymnasium.spaces.Discrete(10, dtype=np.int32)
        name = self.store(episode(0, 2, [1]), spaces=(NUMBER, small))
        rows = drawn(name, spaces=(NUMBER, small))
        self.assertEqual(rows, {0: (0, 0, 0.5, 1), 1: (1, 1, 0, 2)})
        self.assertEqual(rows[0][0].dtype, np.int32)


class ErrorTest(DataSets):
    """Each is a sentence that names the data set."""

    def refuse(self, message, name="pole/best-v0", spaces=(NUMBER, CHOICE), **kwargs):
        """Expect an error that matches a message, in one line."""
        with self.assertRaisesRegex(SettingError, message) as raised:
            drawn(name, spaces=spaces, **kwargs)
        text = str(raised.exception)
        self.assertNotIn("\n", text)
        self.assertTrue(text.endswith((".", "?")), text)
        self.assertFalse(text.endswith(".."), text)
        self.assertIn(name, text)

    def files(self, name="pole/best-v0"):
        """Return the files of a data set: what it says of itself, and its episodes."""
        folder = self.folder / name / "data"
        return folder / "metadata.json", folder / "main_data.hdf5"

    def test_other_spaces(self):
        self.store(episode(0, 2))
        self.refuse(
            r"have the action space Discrete\(10\), but the environment has "
            r"Discrete\(9\): choose",
            spaces=(NUMBER, gymnasium.spaces.Discrete(9)),
        )
        self.refuse(
            r"have the observation space Box.*\(1,\).*, but .* Box.*\(2,\)",
            spaces=(gymnasium.spaces.Box(-np.inf, np.inf, (2,)), CHOICE),
        )

    def test_no_transition(self):
        self.store()
        self.refuse("hold no transition")

    def test_an_unknown_one_with_the_nearest_and_nothing_is_downloaded(self):
        with mock.patch.object(hosting, "download_dataset") as download:
            self.refuse(
                "'pole/bets-v0' are no local data set: there is none", "pole/bets-v0"
            )
            self.store(episode(0, 2))
            self.refuse(
                "'pole/bets-v0' are no local data set: did you mean pole/best-v0\\?",
                "pole/bets-v0",
            )
            self.refuse(
                "no local data set: known are pole/best-v0", "D4RL/door/human-v2"
            )
        download.assert_not_called()

    def test_others_that_are_damaged_or_no_data_sets_are_not_in_the_way(self):
        self.store(episode(0, 2))
        self.store(episode(0, 2), name="pole/beta-v0")
        self.files("pole/beta-v0")[0].write_text("{", encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.refuse("mean pole/best-v0\\?$", "pole/bets-v0")
            for name in ("without_version", "a b-v0"):
                folder = self.folder / name / "data"
                folder.mkdir(parents=True)
                self.refuse("'pole/bets-v0' are no local data set.$", "pole/bets-v0")
                folder.rmdir()

    def test_damaged_files(self):
        self.store(episode(0, 100))
        description, episodes = self.files()
        whole = episodes.read_bytes()
        episodes.write_bytes(whole[: len(whole) // 2])
        self.refuse("can't be read: OSError: .*truncated")
        episodes.write_bytes(whole)
        with h5py.File(episodes, "a") as file:
            del file["episode_0/actions"]
        self.refuse("can't be read: KeyError: .*actions")
        episodes.unlink()
        self.refuse("can't be opened: ValueError: No data found")
        description.write_text("{", encoding="utf-8")
        self.refuse("can't be opened: JSONDecodeError: ")

    def test_a_version_that_is_not_supported(self):
        self.store(episode(0, 2))
        description = self.files()[0]
        document = json.loads(description.read_text(encoding="utf-8"))
        document["minari_version"] = "0.1"
        description.write_text(json.dumps(document), encoding="utf-8")
        self.refuse("can't be opened: ValueError: .*does not support")

    def test_an_episode_that_is_not_what_its_data_set_says(self):
        nan = np.array([0, np.nan])
        for number, (change, message) in enumerate(
            (
                (
                    {"observations": np.ones((2, 1))},
                    r"observations .*\(3, 1\).*\(2, 1\)",
                ),
                (
                    {"observations": np.ones((3, 2))},
                    r"observations .*\(3, 1\).*\(3, 2\)",
                ),
                ({"actions": np.ones(1)}, r"actions .*shape \(2,\), but have \(1,\)"),
                ({"terminations": np.ones(3)}, r"terminations .*\(2,\).* \(3,\)"),
                ({"truncations": np.ones(1)}, r"truncations .*\(2,\).* \(1,\)"),
                ({"rewards": nan}, "rewards .*must be finite"),
                ({"observations": np.full((3, 1), np.inf)}, "observations .*finite"),
            )
        ):
            name = f"bad-v{number}"
            self.store(episode(0, 2), episode(0, 2, **change), name=name)
            self.refuse(f"{message.partition(' ')[0]} of episode 1 of the", name)
            self.refuse(message, name)

    def test_minari_is_missing(self):
        self.store(episode(0, 2))
        with (
            mock.patch.object(importlib.util, "find_spec", return_value=None),
            self.assertRaisesRegex(
                SettingError, r"need the package minari: pip install -e '.\[minari\]'."
            ),
        ):
            Demonstrations("pole/best-v0", NUMBER, CHOICE)


if __name__ == "__main__":
    unittest.main()
