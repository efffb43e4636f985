"""Tests of ExternalProcess."""

import functools
import gc
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import numpy as np

from agents.tools.constructors import make_batch
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.external_process import (
    ExternalProcess,
    UnpicklableConstructor,
)
from tests import environments, processes

ROOT = pathlib.Path(__file__).parents[3]


class WorkerTest(unittest.TestCase):
    """Has workers, and checks that none is left."""

    def setUp(self):
        before = processes.children()
        self.addCleanup(lambda: self.assertEqual(processes.children() - before, set()))

    def start(self, constructor, **kwargs) -> ExternalProcess:
        """Start a worker that is closed after the test."""
        worker = ExternalProcess(constructor, **kwargs)
        self.addCleanup(worker.close)
        return worker


class ForwardingTest(WorkerTest):
    """A worker behaves as the environment that it hosts."""

    def test_an_episode(self):
        worker = self.start(functools.partial(environments.Counter, steps=2))
        observation, info = worker.reset(seed=1)
        np.testing.assert_array_equal(observation, np.float32([0]))
        self.assertEqual(info, {})
        observation, *outcome = worker.step(0)
        np.testing.assert_array_equal(observation, np.float32([1]))
        self.assertEqual(outcome, [1.0, False, False, {"count": 1}])
        observation, *outcome = worker.step(0)
        np.testing.assert_array_equal(observation, np.float32([2]))
        self.assertEqual(outcome, [1.0, True, False, {"count": 2}])

    def test_spaces_attributes_and_calls(self):
        worker = self.start(environments.Counter)
        own = environments.Counter()
        self.assertEqual(worker.observation_space, own.observation_space)
        self.assertEqual(worker.action_space, own.action_space)
        self.assertIsNone(worker.num_envs)
        self.assertEqual(worker.steps, 3)
        self.assertTrue(worker.call("is_imported", "numpy"))
        self.assertTrue(worker.call("is_imported", module="numpy"))
        with self.assertRaisesRegex(AttributeError, "no 'unknown'"):
            _ = worker.unknown

    def test_an_action_of_another_shape_is_an_error(self):
        worker = self.start(environments.Counter)
        worker.reset()
        with self.assertRaisesRegex(ValueError, r"shape \(1, 2\) where \(1,\) belong"):
            worker.step([0, 1])
        self.assertEqual(worker.step(0)[1], 1)

    def test_infos_can_be_left_out(self):
        worker = self.start(environments.Counter, with_infos=False)
        worker.reset()
        self.assertEqual(worker.step(0)[-1], {})

    def test_promises(self):
        worker = self.start(environments.Counter)
        observation, _ = worker.reset(blocking=False)()
        np.testing.assert_array_equal(observation, [0])
        promise = worker.step(1, blocking=False)
        np.testing.assert_array_equal(promise()[0], [1])
        self.assertTrue(worker.call("is_imported", "sys", blocking=False)())

    def test_arrays_are_new(self):
        worker = self.start(environments.MutatesObservation)
        zero, _ = worker.reset()
        one = worker.step(0)[0]
        worker.step(0)
        np.testing.assert_array_equal([zero, one], [[0], [1]])

    def test_nested_observation(self):
        worker = self.start(environments.Nested)
        worker.reset()
        observation = worker.step(0)[0]
        np.testing.assert_array_equal(observation["image"], [[1, 1], [1, 1]])
        self.assertEqual(observation["pair"], (1, 0.5))
        self.assertEqual(observation["image"].dtype, np.uint8)


class HostedBatchTest(WorkerTest):
    """A worker that hosts a batch behaves as the batch does."""

    def setUp(self):
        super().setUp()
        make = functools.partial(make_batch, [environments.Counter] * 2)
        self.worker = self.start(make)

    def test_an_episode(self):
        self.assertEqual(self.worker.num_envs, 2)
        steps = [self.worker.reset(), *(self.worker.step([0, 0]) for _ in range(3))]
        self.assertEqual(steps[0].tolist(), [[0], [0]])
        expected = [([1, 1], False), ([2, 2], False), ([0, 0], True)]
        for outcome, (numbers, ended) in zip(steps[1:], expected, strict=True):
            observation, reward, terminated, truncated, _ = outcome
            self.assertEqual(observation[:, 0].tolist(), numbers)
            self.assertEqual(reward.tolist(), [1, 1])
            self.assertEqual(terminated.tolist(), [ended, ended])
            self.assertEqual(truncated.tolist(), [False, False])
        finals = [infos["final_observation"].tolist() for *_, infos in steps[1:]]
        self.assertEqual(finals, [[[1], [1]], [[2], [2]], [[3], [3]]])

    def test_reset_of_one(self):
        self.worker.reset()
        self.worker.step([0, 0])
        self.assertEqual(self.worker.reset([1]).tolist(), [[0]])
        self.assertEqual(self.worker.step([0, 0])[0].tolist(), [[2], [1]])

    def test_infos(self):
        self.worker.reset()
        told = self.worker.step([0, 0])[-1]["environments"]
        self.assertEqual(told, {0: {"count": 1}, 1: {"count": 1}})


class ConstructorTest(WorkerTest):
    """Whatever can be pickled by cloudpickle is a constructor."""

    def test_kinds(self):
        steps = 5

        class Local(environments.Counter):
            """Defined in a function."""

        def closure():
            return environments.Counter(steps)

        kinds = {
            "lambda": lambda: environments.Counter(5),
            "closure": closure,
            "local class": functools.partial(Local, steps=5),
            "partial": functools.partial(environments.Counter, steps=5),
        }
        workers = {kind: self.start(make) for kind, make in kinds.items()}
        for kind, worker in workers.items():
            with self.subTest(kind):
                self.assertEqual(worker.steps, 5)

    def test_what_can_not_be_pickled_is_a_type_error_that_says_what(self):
        lock = threading.Lock()
        with self.assertRaisesRegex(TypeError, r"<lambda>.*lock") as caught:
            ExternalProcess(lambda: lock)
        self.assertIsInstance(caught.exception, UnpicklableConstructor)

    def test_workers_are_free_of_tensorflow(self):
        worker = self.start(environments.OneState)
        self.assertFalse(worker.call("is_imported", "tensorflow"))

    def test_a_worker_stays_on_its_core(self):
        core = max(os.sched_getaffinity(0))
        worker = ExternalProcess(environments.OneState, core=core)
        self.addCleanup(worker.close)
        self.assertEqual(worker.call("cores"), {core})

    def test_start_side_by_side(self):
        self.assertLess(seconds_to_start_eight(), 5)

    def test_that_raises(self):
        worker = self.start(environments.CrashInConstructor)
        message = "Environment 0 could not be constructed: ValueError: crash in cons"
        with self.assertRaisesRegex(EnvironmentFault, message) as caught:
            worker.reset()
        self.assertIn("in __init__", caught.exception.remote_traceback)
        processes.seconds_until_ended([worker.process_id], 5)
        self.assertFalse(processes.is_running(worker.process_id))

    def test_that_raises_shows_its_traceback_once(self):
        parent = run_script(
            """
            from agents.tools import BatchEnv
            from agents.tools.wrappers import ExternalProcess
            from tests.environments import CrashInConstructor
            BatchEnv([ExternalProcess(CrashInConstructor)])
            """
        )
        _, errors = parent.communicate(timeout=30)
        self.assertEqual(errors.count('raise ValueError("crash in constructor")'), 1)


class FaultTest(WorkerTest):
    """What goes wrong in a worker is named in the parent, in a bounded time."""

    def test_raises(self):
        worker = self.start(environments.Crash)
        worker.reset()
        worker.step(0)
        with self.assertRaises(EnvironmentFault) as caught:
            worker.step(0)
        fault = caught.exception
        self.assertEqual(
            str(fault), "Environment 0 raised: ValueError: crash in step 2"
        )
        self.assertIn("environments.py", fault.remote_traceback)
        self.assertIn(fault.remote_traceback.rstrip(), fault.__notes__)

    def test_goes_on_after_it_raised(self):
        worker = self.start(functools.partial(environments.Crash, at_step=1))
        worker.reset()
        with self.assertRaises(EnvironmentFault):
            worker.step(0)
        np.testing.assert_array_equal(worker.reset()[0], [0])

    def test_exits(self):
        worker = self.start(functools.partial(environments.Exit, at_step=1))
        worker.reset()
        message = "lost the worker process during step: it ended with 7"
        with self.assertRaisesRegex(EnvironmentFault, message):
            worker.step(0)

    def test_exits_but_a_thread_holds_it(self):
        worker = self.start(environments.SlowExit)
        worker.reset()
        start = time.monotonic()
        with self.assertRaisesRegex(EnvironmentFault, "raised: SystemExit: 7"):
            worker.step(0)
        worker.close()
        self.assertLess(time.monotonic() - start, 5)
        self.assertFalse(processes.is_running(worker.process_id))

    def test_is_killed(self):
        worker = self.start(environments.OneState)
        worker.reset()
        os.kill(worker.process_id, signal.SIGKILL)
        with self.assertRaisesRegex(EnvironmentFault, "it ended with SIGKILL"):
            worker.step(0)

    def test_hangs(self):
        worker = self.start(
            functools.partial(environments.Sleep, "step", 60), timeout=2
        )
        worker.reset()
        with self.assertRaisesRegex(EnvironmentFault, "did not finish step within 2 s"):
            worker.step(0)
        processes.seconds_until_ended([worker.process_id], 5)
        self.assertFalse(processes.is_running(worker.process_id))

    def test_hangs_in_constructor(self):
        make = functools.partial(environments.Sleep, "constructor", 60)
        worker = self.start(make, timeout=0.5)
        message = "did not finish construction within 0.5 seconds"
        with self.assertRaisesRegex(EnvironmentFault, message):
            worker.reset()

    def test_wrong_observation(self):
        worker = self.start(
            functools.partial(environments.BadObservation, [1.0, 2.0], 0)
        )
        message = r"observation of shape \(2,\), but its space .* says \(1,\)"
        with self.assertRaisesRegex(EnvironmentFault, message):
            worker.reset()


class EndTest(WorkerTest):
    """Workers end with their owner."""

    def test_close_ends_the_worker_and_can_be_repeated(self):
        worker = self.start(environments.OneState)
        worker.reset()
        worker.close()
        self.assertFalse(processes.is_running(worker.process_id))
        worker.close()

    def test_hanging_workers_are_closed_side_by_side(self):
        make = functools.partial(environments.Sleep, "step", 60)
        workers = [self.start(make) for _ in range(3)]
        for worker in workers:
            worker.reset()
            worker.step(0, blocking=False)
        start = time.monotonic()
        for finish in [worker.close(blocking=False) for worker in workers]:
            finish()
        self.assertLess(time.monotonic() - start, 4)

    def test_a_forgotten_worker_ends(self):
        worker = ExternalProcess(environments.OneState)
        worker.reset()
        process_id = worker.process_id
        del worker
        gc.collect()
        self.assertFalse(processes.is_running(process_id))

    def test_shared_memory_has_no_name(self):
        worker = self.start(environments.OneState)
        worker.reset()
        for process in ("self", worker.process_id):
            text = pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8")
            files = [line for line in text.splitlines() if "/dev/shm/" in line]
            self.assertTrue(files)
            named = [line for line in files if not line.endswith("(deleted)")]
            self.assertEqual(named, [])

    def test_workers_outlive_the_signals_that_a_cluster_sends_to_a_whole_job(self):
        worker = self.start(environments.Counter)
        worker.reset()
        for number in (signal.SIGTERM, signal.SIGHUP):
            os.kill(worker.process_id, number)
            self.assertEqual(worker.step(0)[1], 1.0)
        self.assertTrue(processes.is_running(worker.process_id))

    def test_workers_ignore_ctrl_c_and_end_with_a_killed_parent(self):
        parent = run_script(
            """
            import functools, signal, sys
            from agents.tools.wrappers import ExternalProcess
            from tests.environments import OneState, Sleep
            signal.signal(signal.SIGINT, lambda *_: None)
            busy = ExternalProcess(functools.partial(Sleep, "step", 60))
            workers = [ExternalProcess(OneState), busy]
            for worker in workers:
                worker.reset()
            print(*(worker.process_id for worker in workers), flush=True)
            sys.stdin.readline()
            workers[0].step(0)
            busy.step(0, blocking=False)
            print("stepped", flush=True)
            sys.stdin.readline()
            """
        )
        self.addCleanup(parent.kill)
        workers = [int(word) for word in parent.stdout.readline().split()]
        self.assertEqual(len(workers), 2)
        os.killpg(parent.pid, signal.SIGINT)
        parent.stdin.write("\n")
        parent.stdin.flush()
        self.assertEqual(parent.stdout.readline(), "stepped\n")
        self.assertTrue(all(map(processes.is_running, workers)))
        parent.kill()
        self.assertLess(processes.seconds_until_ended(workers, 10), 5)
        self.assertEqual(parent.communicate(), ("", ""))


def seconds_to_start_eight() -> float:
    """Return how long 8 workers take whose constructors sleep for 2 seconds."""
    make = functools.partial(environments.Sleep, "constructor", 2)
    start = time.monotonic()
    workers = [ExternalProcess(make) for _ in range(8)]
    for worker in workers:
        worker.reset()
    seconds = time.monotonic() - start
    for promise in [worker.close(blocking=False) for worker in workers]:
        promise()
    return seconds


def run_script(text: str) -> subprocess.Popen:
    """Run Python code in a process group of its own."""
    return subprocess.Popen(  # pylint: disable=consider-using-with
        [sys.executable, "-c", textwrap.dedent(text)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
