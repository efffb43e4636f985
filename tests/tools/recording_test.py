"""Whole episodes of environments whose numbers are known."""

import functools
import unittest

import gymnasium
import numpy as np
import tensorflow as tf

from agents.parts.trajectory import Decision, TimeStep, Trajectory
from agents.tools import constructors, recording
from agents.tools.faults import EnvironmentFault
from agents.tools.in_graph_batch_env import InGraphBatchEnv
from tests import environments
from tests.learner import Learner, LearnerSettings
from tests.tools.simulation_test import GhostRows, counters

SEED = [3, 4]


class Echo(environments.Counter):
    """Observes the step and the last action, by which it is rewarded."""

    observation_space = gymnasium.spaces.Dict(
        {
            "step": gymnasium.spaces.Box(0, 100, (), np.uint8),
            "action": gymnasium.spaces.Box(-np.inf, np.inf, (1,)),
        }
    )

    def __init__(self, steps):
        super().__init__(steps, action_space=gymnasium.spaces.Box(0, 1000, (1,)))
        self.action = np.zeros(1, np.float32)

    def reset(self, **kwargs):
        """Forget the action."""
        self.action = np.zeros(1, np.float32)
        return super().reset(**kwargs)

    def step(self, action):
        """Take on the action."""
        self.action = np.array(action)
        observation, _, *rest = super().step(action)
        return observation, float(action[0]), *rest

    def observe(self):
        """Return the observation of the current state."""
        return {"step": np.uint8(self.count), "action": self.action}


class Adds:
    """Adds the step, and how many there were as its state, to the last action.

    Where it explores, it acts by 0.
    """

    def initial_state(self, batch_size):
        """Return 10 for each environment."""
        return tf.fill([batch_size], 10.0)

    def perform(self, observation, state, seed, training):
        """Add."""
        del seed
        number = tf.cast(observation["step"], tf.float32) + state
        action = observation["action"] + number[:, None]
        return Decision(action * (0.0 if training else 1.0), state + 10, ())


class LosesTwoEpisodes(GhostRows):
    """Each episode has 20 steps, but the first two are lost in the last one."""

    def step(self, state, action):
        """Count all steps; observe those of the episode."""
        del action
        state += 1
        ended, lost = state % 20 == 0, (state == 20) | (state == 40)
        return state, TimeStep(
            observation=(state % 20)[:, None],
            reward=tf.ones([1]),
            terminated=ended & ~lost,
            truncated=lost,
            final_observation=((state - 1) % 20 + 1)[:, None],
            valid=~lost,
        )


def record(env, episodes, policy=None):
    """Record episodes of a `Learner`, which acts by 0 where it does not explore."""
    policy = policy or Learner(LearnerSettings(), env)
    return recording.record(env, policy, episodes, SEED)


def arrays(steps):
    """Return the arrays [T] of one environment by names, as a trajectory.

    Args:
        steps: texts of one letter for each step: a transition (.), the task ended (t),
            the episode was cut off (c), no transition (-), the episode was lost (x).
    """
    number = np.arange(len(steps), dtype=np.float32)
    kinds = np.array(list(steps))
    return Trajectory(
        observation={"number": number},
        action=number,
        reward=number,
        terminated=kinds == "t",
        truncated=(kinds == "c") | (kinds == "x"),
        final_observation={"number": number + 0.5},
        valid=(kinds != "-") & (kinds != "x"),
        state=(),
        extras=(),
    )


class WholeEpisodesTest(unittest.TestCase):
    """Step i observed and did i, and what followed it was i + 1 / 2."""

    def observations(self, steps):
        """Return the observations of each episode."""
        found = recording.whole_episodes(arrays(steps))
        return [episode["observations"]["number"].tolist() for episode in found]

    def test_episodes_end_by_both_ends_and_what_did_not_end_is_left_out(self):
        first, second = recording.whole_episodes(arrays("..t.c.."))
        self.assertEqual(first["observations"]["number"].tolist(), [0, 1, 2, 2.5])
        self.assertEqual(first["actions"].tolist(), [0, 1, 2])
        self.assertEqual(first["rewards"].tolist(), [0, 1, 2])
        self.assertEqual(first["terminations"].tolist(), [False, False, True])
        self.assertEqual(first["truncations"].tolist(), [False] * 3)
        self.assertEqual(second["observations"]["number"].tolist(), [3, 4, 4.5])
        self.assertEqual(second["terminations"].tolist(), [False] * 2)
        self.assertEqual(second["truncations"].tolist(), [False, True])

    def test_without_an_end_there_is_none(self):
        self.assertEqual(self.observations("..."), [])

    def test_an_episode_that_was_lost_is_left_out(self):
        self.assertEqual(self.observations(".t..x.t"), [[0, 1, 1.5], [5, 6, 6.5]])

    def test_rows_that_are_no_transitions_are_left_out(self):
        self.assertEqual(self.observations(".t-.-t"), [[0, 1, 1.5], [3, 5, 5.5]])


class RecordTest(unittest.TestCase):
    """Environments in a batch."""

    def test_what_the_environment_did_is_recorded_with_the_best_known_actions(self):
        """Actions are 0 + 0 + 10, 10 + 1 + 20 and 31 + 2 + 30, in each episode."""
        makers = [functools.partial(Echo, 3), functools.partial(Echo, 2)]
        env = InGraphBatchEnv(constructors.make_batch(makers))
        found = record(env, 4, Adds())
        self.assertEqual([len(episode["rewards"]) for episode in found], [3, 3, 2, 2])
        for episode in found:
            steps = len(episode["rewards"])
            actions = [10, 31, 63][:steps]
            observations = episode["observations"]
            self.assertEqual(observations["step"].tolist(), list(range(steps + 1)))
            self.assertEqual(observations["step"].dtype, np.uint8)
            self.assertEqual(observations["action"][:, 0].tolist(), [0, *actions])
            self.assertEqual(episode["actions"][:, 0].tolist(), actions)
            self.assertEqual(episode["rewards"].tolist(), actions)
            ends = [False] * (steps - 1) + [True]
            self.assertEqual(episode["terminations"].tolist(), ends)
            self.assertEqual(episode["truncations"].tolist(), [False] * steps)

    def test_a_limit_is_no_end_of_the_task(self):
        (episode,) = record(counters(100, limit=5), 1)
        self.assertEqual(episode["truncations"].tolist(), [False] * 4 + [True])
        self.assertEqual(episode["terminations"].tolist(), [False] * 5)
        self.assertEqual(episode["observations"][:, 0].tolist(), [0, 1, 2, 3, 4, 5])

    def test_each_environment_plays_as_many_however_long_they_are(self):
        """An episode of 100 steps does not fit into one piece of the simulation."""
        found = record(counters(100, 2), 3)
        self.assertEqual(
            [len(episode["actions"]) for episode in found], [100, 100, 2, 2]
        )
        for episode in found:
            steps = np.arange(len(episode["actions"]) + 1)
            np.testing.assert_array_equal(episode["observations"][:, 0], steps)

    def test_rows_that_are_no_transitions_are_not_recorded(self):
        for episode in record(GhostRows(), 3):
            self.assertEqual(episode["observations"][:, 0].tolist(), [0, 1, 2, 3])
            self.assertEqual(episode["rewards"].tolist(), [1, 1, 1])

    def test_for_episodes_that_were_lost_others_are_played(self):
        """Three end in the first piece of the simulation, one of them well."""
        found = record(LosesTwoEpisodes(), 2)
        for episode in found:
            self.assertEqual(episode["observations"][:, 0].tolist(), list(range(21)))
        self.assertEqual(len(found), 2)

    def test_a_fault_of_the_environment_is_raised(self):
        makers = [functools.partial(environments.Crash, 2)]
        env = InGraphBatchEnv(constructors.make_batch(makers))
        with self.assertRaisesRegex(EnvironmentFault, "crash in step 2"):
            record(env, 1)


if __name__ == "__main__":
    unittest.main()
