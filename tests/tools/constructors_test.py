"""Tests of constructors."""

import functools
import threading
import unittest
from unittest import mock

import gymnasium

from agents.parts.settings import SettingError
from agents.tools import constructors
from agents.tools.faults import EnvironmentFault
from tests import environments, processes

COUNTER = "tests.environments:tests/Counter-v0"


class CheckEnvironmentTest(unittest.TestCase):
    """What is wrong with an environment is said before anything starts."""

    def test_unregistered(self):
        for env in ("Unknown-v0", "tests.environments:tests/Unknown-v0", "not an id"):
            with self.subTest(env):
                message = f"The env '{env}' is not registered"
                with self.assertRaisesRegex(SettingError, message):
                    constructors.check_environment(env)

    def test_missing_module(self):
        with self.assertRaisesRegex(SettingError, "no_such_module"):
            constructors.check_environment("no_such_module:Counter-v0")

    def test_a_missing_package_comes_with_the_command_that_installs_it(self):
        for env, command in (
            ("Hopper-v5", r"mujoco, .*: pip install -e '\.\[mujoco\]'\.$"),
            ("AntBulletEnv-v0", r"pybullet.*: pip install -e '\.\[bullet\]'\.$"),
        ):
            with mock.patch("importlib.util.find_spec", return_value=None):
                with self.assertRaisesRegex(SettingError, command):
                    constructors.check_environment(env)


class MakeEnvironmentTest(unittest.TestCase):
    """From an id or a function to an environment."""

    def test_needs_a_limit_of_some_kind(self):
        def limited():
            return gymnasium.wrappers.TimeLimit(environments.Counter(), 5)

        constructors.make_environment("CartPole-v1", None)
        constructors.make_environment(COUNTER, 10)
        constructors.make_environment(environments.Counter, 10)
        constructors.make_environment(limited, None)
        for env in (COUNTER, environments.Counter):
            with self.subTest(env=env):
                message = "tests.environments:.*Counter.* --set=max_length"
                with self.assertRaisesRegex(SettingError, message):
                    constructors.make_environment(env, None)

    def test_id_with_a_module(self):
        env = constructors.make_environment(COUNTER, 10)
        self.assertIsInstance(env.unwrapped, environments.Counter)

    def test_max_length_truncates(self):
        for env in ("tests.environments:tests/OneState-v0", environments.OneState):
            with self.subTest(env=env):
                made = constructors.make_environment(env, 2)
                made.reset()
                self.assertEqual([made.step(0)[3] for _ in range(2)], [False, True])

    def test_max_length_replaces_the_limit_of_a_registered_environment(self):
        made = constructors.make_environment("CartPole-v1", 7)
        self.assertEqual(made.spec.max_episode_steps, 7)

    def test_render_mode(self):
        for env in (COUNTER, environments.Counter):
            with self.subTest(env=env):
                made = constructors.make_environment(env, 10, "rgb_array")
                self.assertEqual(made.unwrapped.render_mode, "rgb_array")
                made = constructors.make_environment(env, 10)
                self.assertIsNone(made.unwrapped.render_mode)


class MakeBatchTest(unittest.TestCase):
    """All environments in this process."""

    def test_names_the_one_that_could_not_be_constructed(self):
        closed = []

        class Closed(environments.OneState):
            """Tells when it is closed."""

            def close(self):
                closed.append(self)

        with self.assertRaises(EnvironmentFault) as caught:
            constructors.make_batch([Closed, environments.CrashInConstructor])
        self.assertEqual(
            str(caught.exception),
            "Environment 1 could not be constructed: ValueError: crash in constructor",
        )
        self.assertEqual(len(closed), 1)


class StartMembersTest(unittest.TestCase):
    """Environments are divided among workers as evenly as can be."""

    def _shares(self, num_envs, workers):
        make = functools.partial(constructors.make_environment, COUNTER, 10)
        members = constructors.start_members(make, num_envs, workers, timeout=60)
        shares = [member.num_envs for member in members]
        for promise in [member.close(blocking=False) for member in members]:
            promise()
        return shares

    def test_uneven(self):
        self.assertEqual(self._shares(5, 2), [3, 2])

    def test_no_worker_without_an_environment(self):
        self.assertEqual(self._shares(2, 3), [1, 1])

    def test_with_a_worker_for_each_core_each_has_its_own(self):
        process = "agents.tools.constructors.ExternalProcess"
        for workers, expected in ((2, [3, 7]), (3, [None] * 3)):
            with (
                mock.patch("os.sched_getaffinity", return_value={7, 3}),
                mock.patch(process) as started,
            ):
                constructors.start_members(environments.Counter, 6, workers, 60)
            cores = [call.kwargs["core"] for call in started.call_args_list]
            self.assertEqual(cores, expected)

    def test_workers_are_free_of_tensorflow(self):
        class Reports(environments.OneState):
            """Observes whether TensorFlow is imported."""

            def observe(self):
                return [float(self.is_imported("tensorflow"))]

        make = functools.partial(constructors.make_environment, Reports, 10)
        worker = constructors.start_members(make, 2, 1, timeout=60)[0]
        self.addCleanup(worker.close)
        self.assertEqual(worker.reset().tolist(), [[0], [0]])

    def test_unpicklable_constructor(self):
        before = processes.children()
        lock = threading.Lock()
        with self.assertRaisesRegex(TypeError, "lock"):
            constructors.start_members(lambda: lock, 4, 2, timeout=60)
        self.assertEqual(processes.children() - before, set())


class RegistrationTest(unittest.TestCase):
    """The environments of these tests are registered."""

    def test_ids(self):
        spec = gymnasium.spec("tests/Counter-v0")
        self.assertIs(spec.entry_point, environments.Counter)
