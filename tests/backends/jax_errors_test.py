"""What is said of mistakes in JAX environments: one sentence each."""

import functools
import itertools
import unittest
from unittest import mock

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from agents.environments import jax_env
from agents.environments.jax_env import JaxTask
from agents.parts.settings import SettingError
from agents.scripts.config_file import Code
from agents.tools.faults import EnvironmentFault

NUMBER = gymnasium.spaces.Box(0, np.inf, (1,))
PAIR = gymnasium.spaces.Dict({"a": NUMBER, "b": gymnasium.spaces.Discrete(2)})
TWO = gymnasium.spaces.Discrete(2)


def reset(key):
    """Start at 0."""
    del key
    return {"count": jnp.int32(0)}, jnp.zeros(1)


def step(state, action, key):
    """Stay as it is, earn the action."""
    del key
    return state, jnp.zeros(1), action, False, False


def task(**changes):
    """Make a task that is in order but for the changes."""
    return JaxTask(reset, step, NUMBER, TWO, 10)._replace(**changes)


def returns(**changes):
    """Return a step whose results are right but for those named."""

    def changed(state, action, key):
        names = ("state", "observation", "reward", "terminated", "truncated")
        results = dict(zip(names, step(state, action, key), strict=True))
        return tuple((results | changes).values())

    return changed


def earns(reward):
    """Return a step that earns a function of the action."""

    def changed(state, action, key):
        return returns(reward=reward(action))(state, action, key)

    return changed


class ErrorsTest(unittest.TestCase):
    """Each names what was given, and what is expected."""

    def refuse(self, message, env, max_length=None, error=SettingError):
        """Expect an error that matches a message, in one line."""
        with self.assertRaisesRegex(error, message) as caught:
            jax_env.make(env, 2, max_length)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def refuse_task(self, message, **changes):
        """Expect an error about a task with changes."""
        env = Code("my:task", functools.partial(task, **changes))
        self.refuse(message, env)

    def test_ids(self):
        for env, message in (
            ("gymnax:CartPol-v1", "gymnax has no env 'CartPol-v1': did you mean Cart"),
            ("brax:aant", "brax has no env 'aant': did you mean ant"),
            ("brax:", "brax has no env '': known are ant, "),
            ("Pendulum-v1", "'Pendulum-v1' .did you mean gymnax:Pendulum-v1.*: use "),
            ("ant", "did you mean brax:ant.*: use .*brax:ant or module:function"),
            ("tests.environments:tests/Counter-v0", "no env 'tests.*: use gymnax:"),
        ):
            self.refuse(message, env)

    def test_missing_packages(self):
        for package, env in (
            ("jax", task),
            ("gymnax", "gymnax:CartPole-v1"),
            ("brax", "brax:ant"),
        ):
            with mock.patch.object(
                jax_env, "_missing", lambda name, package=package: name == package
            ):
                self.refuse(
                    f"needs the package {package}, which is not installed: "
                    r"pip install -e '.\[jax\]'",
                    env,
                )

    def test_what_the_function_returns(self):
        self.refuse("my:f returned 3, where .* a JaxTask", Code("my:f", lambda: 3))
        self.refuse("my:TASK must be a function", Code("my:TASK", task()))
        self.refuse(
            "could not be constructed: ZeroDivisionError",
            lambda: 1 / 0,
            error=EnvironmentFault,
        )

    def test_no_limit(self):
        env = functools.partial(task, max_length=None)
        self.refuse("my:task has no limit.*max_length", Code("my:task", env))
        jax_env.make(env, 2, 5)

    def test_signatures_and_results(self):
        self.refuse_task("reset of my:task must take key: ", reset=lambda: None)
        self.refuse_task("step of my:task must take state, action, k", step=reset)
        self.refuse_task(
            r"returned a tuple of 3, where \(state, observation\) is",
            reset=lambda key: (*reset(key), {}),
        )
        self.refuse_task(
            r"returned a NoneType, where \(state, .*, truncated\) is",
            step=lambda state, action, key: None,
        )

    def test_results_of_a_step(self):
        for changes, message in (
            ({"reward": jnp.zeros(1)}, r"reward as float32\[1\], where a number of"),
            ({"reward": "much"}, "reward as str, where an array is expected"),
            ({"terminated": jnp.zeros(2, bool)}, r"terminated as bool\[2\], where tr"),
            ({"truncated": None}, "truncated as NoneType, where an array is"),
            ({"observation": jnp.zeros(3)}, r"as float32\[3\], .* has float32\[1\]"),
            ({"state": {"count": 1.0}}, r"state\['count'\] as float32\[\], .* int32"),
            ({"state": {"count": jnp.zeros(2, int)}}, r"as int32\[2\], .* int32\[\]"),
            ({"state": {}}, "state of the structure PyTreeDef.*, where its reset has"),
            ({"state": {"count": "a"}}, r"state\['count'\] as str, where an array"),
        ):
            self.refuse_task(
                f"step of my:task returns .*{message}", step=returns(**changes)
            )

    def test_nested_observations(self):
        for observation, message in (
            (jnp.zeros(1), "observation a .*, where the space has a dict of .'a', 'b'"),
            ({"a": 1}, r"a one of \['a'\], where"),
            ({"a": jnp.zeros(1), "b": 0.5}, r"\['b'\] as float32\[\], .* int64\[\]"),
        ):
            self.refuse_task(
                f"reset of my:task returns .*{message}",
                observation_space=PAIR,
                reset=lambda key, observation=observation: ((), observation),
            )

    def test_functions_that_are_not_pure(self):
        counts = itertools.count()
        kept = []

        def draws(action):
            return action + np.random.default_rng().random()

        def keeps(action):
            kept.append(action)
            return kept[0] * 2.0

        def prints(action):
            jax.debug.print("{}", action)
            return action

        for reward, message in (
            (draws, "traced twice, it made two different programs"),
            (lambda _: next(counts), "traced twice, it made two different programs"),
            (keeps, ""),
            (prints, "it calls back into Python"),
            (lambda action: 1 if action else 0, ".* TracerBoolConversionError: "),
            (np.sin, ".* TracerArrayConversionError: "),
        ):
            self.refuse_task(
                f"step of my:task is no pure function.*{message}", step=earns(reward)
            )

    def test_what_xla_lacks(self):
        def solves(action):
            return jnp.linalg.solve(jnp.eye(2) * (1 + action), jnp.ones(2))[0]

        def chooses(action):
            return jax.lax.top_k(jnp.arange(3) * action, 1)[0][0]

        for reward, message in (
            (solves, "the LU decomposition"),
            (chooses, "jax.lax.top_k"),
        ):
            self.refuse_task(f"does not have: {message}", step=earns(reward))

    def test_errors_of_its_own_come_with_a_traceback(self):
        def divides(key):
            del key
            return 1 // 0

        env = functools.partial(task, reset=divides)
        with self.assertRaisesRegex(
            EnvironmentFault, "raised in its reset: ZeroDivisionError"
        ) as caught:
            jax_env.make(env, 2, None)
        self.assertIn("return 1 // 0", caught.exception.remote_traceback)

    def test_unsupported_spaces(self):
        self.refuse_task(
            "Text.* is not supported", observation_space=gymnasium.spaces.Text(5)
        )
        self.refuse_task("action space Dict.* is not supported", action_space=PAIR)


if __name__ == "__main__":
    unittest.main()
