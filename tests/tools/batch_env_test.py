"""Tests of BatchEnv, within this process and with workers."""

import contextlib
import functools
import io
import os
import signal
import threading
import time
import unittest

import gymnasium
import numpy as np

from agents.parts.nests import UnsupportedSpace
from agents.tools.batch_env import BatchEnv
from agents.tools.constructors import make_batch, start_members
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.external_process import ExternalProcess
from tests import environments, processes

STAY = [0, 0]
BATCHED_WORKER = "a worker with a batch"
PLACES = ("this process", "workers", BATCHED_WORKER)


class BatchTest(unittest.TestCase):
    """Has batches that are closed after the test, and checks that no worker is left."""

    def setUp(self):
        before = processes.children()
        self.addCleanup(lambda: self.assertEqual(processes.children() - before, set()))

    def batch(self, *constructors, place="this process", timeout=60.0) -> BatchEnv:
        """Return a batch with environments in one of `PLACES`."""
        if place == "this process":
            batch = make_batch(constructors)
        elif place == BATCHED_WORKER:
            batch = self.batch_of_workers(constructors, timeout=timeout)
        else:
            batch = BatchEnv([ExternalProcess(make, timeout) for make in constructors])
        self.addCleanup(batch.close)
        return batch

    def batch_of_workers(self, *groups, timeout=60.0, most_restarts=0) -> BatchEnv:
        """Return a batch with a worker for each group of constructors."""
        members = [
            ExternalProcess(functools.partial(make_batch, group), timeout)
            for group in groups
        ]
        batch = BatchEnv(members, most_restarts)
        self.addCleanup(batch.close)
        return batch


class EpisodeTest(BatchTest):
    """Where an episode ends, the next one starts within the same step."""

    def test_final_observation_and_first_of_the_next_in_one_step(self):
        for place in PLACES:
            with self.subTest(place):
                batch = self.batch(environments.Counter, place=place)
                np.testing.assert_array_equal(batch.reset(), [[0]])
                steps = [batch.step([0]) for _ in range(4)]
                observations, rewards, terminated, truncated, infos = zip(
                    *steps, strict=True
                )
                finals = [info["final_observation"] for info in infos]
                self.assertEqual(np.ravel(observations).tolist(), [1, 2, 0, 1])
                self.assertEqual(np.ravel(finals).tolist(), [1, 2, 3, 1])
                self.assertEqual(np.ravel(rewards).tolist(), [1, 1, 1, 1])
                self.assertEqual(np.ravel(terminated).tolist(), [0, 0, 1, 0])
                self.assertEqual(np.ravel(truncated).tolist(), [0, 0, 0, 0])

    def test_each_environment_in_its_own_time(self):
        two = functools.partial(environments.Counter, 2)
        batch = self.batch(environments.Counter, two)
        batch.reset()
        steps = [batch.step(STAY) for _ in range(6)]
        terminated = np.transpose([step[2] for step in steps]).tolist()
        self.assertEqual(terminated, [[0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1]])

    def test_a_constructor_with_autoreset_adds_no_transitions(self):
        batch = self.batch(
            lambda: gymnasium.wrappers.Autoreset(environments.Counter()),
            lambda: gymnasium.wrappers.Autoreset(environments.Counter()),
        )
        batch.reset()
        steps = [batch.step(STAY) for _ in range(6)]
        self.assertEqual([step[1].tolist() for step in steps], [[1, 1]] * 6)
        ends = [step[2].tolist() for step in steps]
        self.assertEqual(ends, [[0, 0], [0, 0], [1, 1]] * 2)

    def test_time_limit_truncates(self):
        for place in ("this process", BATCHED_WORKER):
            with self.subTest(place):
                batch = self.batch(limited(environments.OneState, 2), place=place)
                batch.reset()
                steps = [batch.step([0]) for _ in range(4)]
                self.assertEqual([bool(step[2][0]) for step in steps], [False] * 4)
                truncated = [bool(step[3][0]) for step in steps]
                self.assertEqual(truncated, [False, True, False, True])

    def test_terminated_and_truncated_at_once(self):
        batch = self.batch(limited(environments.Counter, 3))
        batch.reset()
        *_, (_, _, terminated, truncated, _) = [batch.step([0]) for _ in range(3)]
        self.assertEqual((terminated.tolist(), truncated.tolist()), ([True], [True]))

    def test_infos_pass_through(self):
        for place in PLACES:
            with self.subTest(place):
                batch = self.batch(
                    environments.OneState, environments.Counter, place=place
                )
                batch.reset()
                told = batch.step(STAY)[-1]["environments"]
                self.assertEqual(told, {1: {"count": 1}})


class ArrayTest(BatchTest):
    """What goes in and out is cast once and belongs to whoever gets it."""

    def test_dtypes(self):
        batch = self.batch(environments.Nested, place=BATCHED_WORKER)
        batch.reset()
        observation, reward, *ends, _ = batch.step([0])
        number, half = observation["pair"]
        self.assertEqual((observation["image"].shape, number.shape), ((1, 2, 2), (1,)))
        np.testing.assert_array_equal(observation["image"], [[[1, 1], [1, 1]]])
        np.testing.assert_array_equal([number, half], [[1], [0.5]])
        arrays = [observation["image"], number, half, reward, *ends]
        dtypes = [np.uint8, np.int64, np.float32, np.float32, bool, bool]
        self.assertEqual([array.dtype for array in arrays], dtypes)

    def test_arrays_are_new(self):
        for place in PLACES:
            with self.subTest(place):
                batch = self.batch(environments.Counter, place=place)
                outcomes = [(batch.reset(),)] + [batch.step([0]) for _ in range(3)]
                observations = [outcome[0].tolist() for outcome in outcomes]
                self.assertEqual(observations, [[[0]], [[1]], [[2]], [[0]]])
                ends = [outcome[2].tolist() for outcome in outcomes[1:]]
                self.assertEqual(ends, [[False], [False], [True]])
                finals = [outcome[-1]["final_observation"] for outcome in outcomes[1:]]
                self.assertEqual(np.ravel(finals).tolist(), [1, 2, 3])

    def test_an_observation_that_is_changed_in_place(self):
        batch = self.batch(environments.MutatesObservation)
        batch.reset()
        for _ in range(2):
            batch.step([0])
        observation, *_, infos = batch.step([0])
        np.testing.assert_array_equal(observation, [[0]])
        np.testing.assert_array_equal(infos["final_observation"], [[3]])

    def test_an_action_that_is_kept_and_spoiled(self):
        for place in PLACES:
            with self.subTest(place):
                batch = self.batch(environments.KeepsAction, place=place)
                batch.reset()
                actions = np.array([[0.25, 0.5]], np.float32)
                batch.step(actions)
                actions[...] = 0.75
                observation = batch.step(actions)[0]
                np.testing.assert_array_equal(observation, [[0.25, 0.5]])
                batch.step(np.float32([[0, 0]]))
                np.testing.assert_array_equal(actions, [[0.75, 0.75]])

    def test_actions_of_another_shape(self):
        batch = self.batch(environments.OneState, environments.OneState)
        batch.reset()
        for actions in ([0], [0, 0, 0], [[0], [0]]):
            with self.subTest(actions=actions):
                with self.assertRaisesRegex(ValueError, "for 2 environments"):
                    batch.step(actions)
        np.testing.assert_array_equal(batch.step(STAY)[0], [[1], [1]])


class ResetTest(BatchTest):
    """Episodes can be started at any time."""

    def test_of_some(self):
        for place in ("this process", BATCHED_WORKER):
            with self.subTest(place):
                steps = [4, 5, 6]
                makes = [functools.partial(environments.Counter, n) for n in steps]
                batch = self.batch(*makes, place=place)
                batch.reset()
                batch.step([0, 0, 0])
                np.testing.assert_array_equal(batch.reset([2, 0]), [[0], [0]])
                np.testing.assert_array_equal(batch.step([0, 0, 0])[0], [[1], [2], [1]])

    def test_seeds_go_to_their_environments(self):
        batch = self.batch(*[environments.Draws] * 3)
        first = batch.reset(seeds=[1, 2, 3])
        np.testing.assert_array_equal(batch.reset([2, 0], [3, 1]), first[[2, 0]])

    def test_index_counts_from_the_end_where_negative(self):
        batch = self.batch(environments.Draws, environments.Draws)
        first = batch.reset(seeds=[1, 2])
        np.testing.assert_array_equal(batch.reset([-1], [2]), first[1:])

    def test_unknown_index(self):
        batch = self.batch(environments.OneState)
        with self.assertRaises(IndexError):
            batch.reset([1])


class SeedTest(BatchTest):
    """All randomness of the environments follows from the seeds."""

    def test_four_seeds_start_in_four_states(self):
        batch = self.batch(*[environments.Draws] * 4)
        first = batch.reset(seeds=[1, 2, 3, 4])
        self.assertEqual(len(np.unique(first)), 4)

    def test_without_seeds_the_generators_go_on(self):
        batch = self.batch(environments.Draws)
        first = batch.reset(seeds=[1])
        self.assertNotEqual(first.item(), batch.reset().item())

    def test_any_number_of_workers_gives_the_same(self):
        histories = [self._history(workers) for workers in (0, 1, 2, 3)]
        for history in histories[1:]:
            for own, other in zip(history, histories[0], strict=True):
                np.testing.assert_array_equal(own, other)

    def _history(self, workers):
        make = environments.Draws
        if workers == 0:
            batch = make_batch([make] * 5)
        else:
            batch = BatchEnv(start_members(make, 5, workers, timeout=60))
        self.addCleanup(batch.close)
        history = [batch.reset(seeds=[1, 2, 3, 4, 5])]
        for _ in range(7):
            *outcome, infos = batch.step([0] * 5)
            history += [*outcome, infos["final_observation"]]
        return history


class FaultTest(BatchTest):
    """An environment that fails is named by its index in the batch."""

    def test_raises(self):
        for place in PLACES:
            with self.subTest(place):
                batch = self.batch(
                    environments.OneState, environments.Crash, place=place
                )
                batch.reset()
                batch.step(STAY)
                message = "Environment 1 raised: ValueError: crash in step 2"
                with self.assertRaisesRegex(EnvironmentFault, message) as caught:
                    batch.step(STAY)
                self.assertEqual(caught.exception.indices, (1,))
                self.assertIn("in observe", caught.exception.remote_traceback)

    def test_raises_in_the_second_worker(self):
        one, crash = environments.OneState, environments.Crash
        batch = self.batch_of_workers([one, one, one], [one, crash])
        batch.reset()
        batch.step([0] * 5)
        with self.assertRaises(EnvironmentFault) as caught:
            batch.step([0] * 5)
        self.assertEqual(caught.exception.indices, (4,))

    def test_a_batch_is_lost_with_its_first_fault(self):
        batch = self.batch(environments.OneState, environments.Crash, place="workers")
        batch.reset()
        batch.step(STAY)
        for action in (batch.step, batch.step, lambda _: batch.reset()):
            with self.assertRaisesRegex(EnvironmentFault, "Environment 1 raised"):
                action(STAY)

    def test_exits(self):
        one = environments.OneState
        batch = self.batch_of_workers([one], [one, environments.Exit])
        batch.reset()
        batch.step([0] * 3)
        message = "Environments 1 to 2 lost the worker process during step.* with 7"
        with self.assertRaisesRegex(EnvironmentFault, message):
            batch.step([0] * 3)

    def test_is_killed(self):
        one = environments.OneState
        workers = [ExternalProcess(one), ExternalProcess(one)]
        batch = BatchEnv(workers)
        self.addCleanup(batch.close)
        batch.reset()
        os.kill(workers[1].process_id, signal.SIGKILL)
        with self.assertRaisesRegex(EnvironmentFault, "Environment 1 lost.*SIGKILL"):
            batch.step(STAY)

    def test_hangs(self):
        hang = functools.partial(environments.Sleep, "reset", 60)
        one = environments.OneState
        batch = self.batch_of_workers([one], [one, hang], timeout=2)
        start = time.monotonic()
        message = "Environments 1 to 2 did not finish reset within 2 seconds"
        with self.assertRaisesRegex(EnvironmentFault, message):
            batch.reset()
        batch.close()
        self.assertLess(time.monotonic() - start, 6)

    def test_abort_ends_a_step_that_is_under_way(self):
        slow = functools.partial(environments.Sleep, "step", 60)
        batch = self.batch(environments.OneState, slow, place="workers")
        batch.reset()
        start = time.monotonic()
        threading.Timer(0.2, batch.abort).start()
        with self.assertRaises((EnvironmentFault, InterruptedError)):
            batch.step(STAY)
        self.assertLess(time.monotonic() - start, 5)

    def test_wrong_shape_of_observation(self):
        message = r"Environment 1 returned an observation of shape \(2,\).*says \(1,\)"
        self._check_observation([1.0, 2.0], message)

    def test_missing_observation(self):
        self._check_observation(None, r"Environment 1 returned.*of shape \(\)")

    def test_wrong_structure_of_observation(self):
        for value in (np.zeros(3), None, {"image": np.zeros((2, 2), np.uint8)}):
            with self.subTest(value=value):
                message = "Environment 0 returned an observation that has not the struc"
                self._check_nested_observation(value, message)

    def test_observation_that_its_dtype_can_not_hold(self):
        for pixel in (0.5, 256, -1, np.nan):
            with self.subTest(pixel=pixel):
                image = np.full((2, 2), pixel)
                value = {"image": image, "pair": (0, 0.0)}
                message = f"Environment 0 returned .*the number {pixel}.*says uint8"
                self._check_nested_observation(value, message)

    def test_reward_that_is_no_scalar(self):
        for reward in (np.ones(1), [1.0, 2.0]):
            with self.subTest(reward=reward):
                batch = self.batch(
                    environments.OneState,
                    functools.partial(environments.BadReward, reward, 1),
                )
                batch.reset()
                message = "Environment 1 returned a reward that is no number"
                with self.assertRaisesRegex(EnvironmentFault, message):
                    batch.step(STAY)

    def test_large_reward_passes(self):
        batch = self.batch(functools.partial(environments.BadReward, 1e8, 1))
        batch.reset()
        self.assertEqual(batch.step([0])[1].tolist(), [1e8])

    def _check_observation(self, value, message):
        bad = functools.partial(environments.BadObservation, value, 0)
        batch = self.batch(environments.OneState, bad)
        with self.assertRaisesRegex(EnvironmentFault, message):
            batch.reset()

    def _check_nested_observation(self, value, message):
        class BadNested(environments.Nested):
            """Observes what it should not."""

            def observe(self):
                return value

        with self.assertRaisesRegex(EnvironmentFault, message):
            self.batch(BadNested).reset()


class RestartTest(BatchTest):
    """A worker that fails is started again, by choice."""

    def setUp(self):
        super().setUp()
        self.printed = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.printed))

    def check_lost(self, outcome, rows):
        """Expect some rows of three to be no transitions, and fresh episodes there."""
        observation, reward, terminated, truncated, infos = outcome
        valid = infos["valid"]
        lost = np.isin(np.arange(3), rows)
        np.testing.assert_array_equal(valid, ~lost)
        np.testing.assert_array_equal(truncated, lost)
        self.assertFalse(terminated.any())
        np.testing.assert_array_equal(reward, np.where(lost, 0, 1))
        final = infos["final_observation"]
        np.testing.assert_array_equal(observation[lost], final[lost])
        np.testing.assert_array_equal(observation[lost], np.zeros([len(rows), 1]))

    def test_its_episodes_are_lost_and_those_of_others_go_on(self):
        one, count = environments.OneState, environments.Counter
        long = functools.partial(count, steps=9)
        for fails in (environments.Exit, environments.Crash):
            with self.subTest(fails):
                batch = self.batch_of_workers([one], [long, fails], most_restarts=2)
                batch.reset(seeds=[1, 2, 3])
                self.check_lost(batch.step([0] * 3), [])
                self.assertEqual(batch.restarts, 0)
                self.check_lost(batch.step([0] * 3), [1, 2])
                self.assertEqual(batch.restarts, 1)
                observation, *_ = batch.step([0] * 3)
                self.assertEqual(observation[1:2].tolist(), [[1]])
        self.assertIn("Environments 1 to 2 lost the worker", self.printed.getvalue())
        self.assertIn("ValueError: crash in step 2", self.printed.getvalue())
        self.assertIn("1 restarts are left", self.printed.getvalue())

    def test_one_that_hangs_or_is_killed_or_hosts_a_single_environment(self):
        count = functools.partial(environments.Counter, steps=9)
        workers = [ExternalProcess(count, timeout=5) for _ in range(3)]
        batch = BatchEnv(workers, most_restarts=3)
        self.addCleanup(batch.close)
        batch.reset(seeds=[1, 2, 3])
        for row, number in ((0, signal.SIGSTOP), (2, signal.SIGKILL)):
            os.kill(workers[row].process_id, number)
            self.check_lost(batch.step([0] * 3), [row])
        self.assertEqual(batch.restarts, 2)

    def test_one_that_fails_as_it_resets(self):
        one = environments.OneState
        batch = self.batch_of_workers([one, one], [one], most_restarts=1)
        workers = batch._envs  # pylint: disable=protected-access
        os.kill(workers[0].process_id, signal.SIGKILL)
        self.assertEqual(batch.reset(seeds=[1, 2, 3]).shape, (3, 1))
        self.assertEqual(batch.restarts, 1)

    def test_seeds_after_a_restart_follow_from_those_before(self):
        outcomes = []
        for _ in range(2):
            draws = functools.partial(environments.Draws, 9)
            batch = self.batch_of_workers([draws], [draws], most_restarts=1)
            first = batch.reset(seeds=[1, 2])
            worker = batch._envs[1]  # pylint: disable=protected-access
            os.kill(worker.process_id, signal.SIGKILL)
            outcomes.append(np.concatenate([first, batch.step(STAY)[0]]))
        np.testing.assert_array_equal(outcomes[0], outcomes[1])
        self.assertNotEqual(outcomes[0][1], outcomes[0][3])

    def test_a_limit_ends_it(self):
        batch = self.batch_of_workers([environments.Exit], most_restarts=2)
        batch.reset(seeds=[1])
        message = "lost the worker .* with 7 .after 2 restarts of workers"
        with self.assertRaisesRegex(EnvironmentFault, message):
            for _ in range(10):
                batch.step([0])
        self.assertEqual(batch.restarts, 2)

    def test_in_this_process_there_is_nothing_to_restart(self):
        batch = BatchEnv([environments.Crash()], most_restarts=2)
        batch.reset()
        with self.assertRaisesRegex(EnvironmentFault, "Environment 0 raised"):
            for _ in range(3):
                batch.step([0])
        self.assertIsNone(self.batch(environments.Counter).restarts)


class ConstructionTest(BatchTest):
    """A batch is of environments that have the same, supported spaces."""

    def test_no_environments(self):
        with self.assertRaisesRegex(ValueError, "at least one"):
            BatchEnv([])

    def test_different_spaces(self):
        for place in PLACES:
            with self.subTest(place):
                message = "Environment 1 has the spaces.*must have the same"
                with self.assertRaisesRegex(EnvironmentFault, message):
                    self.batch(
                        environments.OneState, environments.KeepsAction, place=place
                    )

    def test_unsupported_space_in_a_worker(self):
        class Text(environments.Tiny):
            """Observes a text."""

            observation_space = gymnasium.spaces.Text(5)

        with self.assertRaisesRegex(UnsupportedSpace, r"Text\(.*is not supported: use"):
            self.batch(Text, place="workers")

    def test_that_raises_in_the_second_worker(self):
        one, crash = environments.OneState, environments.CrashInConstructor
        message = "Environment 2 could not be constructed: ValueError: crash in constr"
        with self.assertRaisesRegex(EnvironmentFault, message) as caught:
            self.batch_of_workers([one], [one, crash])
        self.assertIn("in __init__", caught.exception.remote_traceback)


def limited(constructor, steps):
    """Return a constructor of the same environment with a time limit."""
    return lambda: gymnasium.wrappers.TimeLimit(constructor(), steps)
