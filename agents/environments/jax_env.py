"""Environments written in JAX: functions, and those of gymnax and Brax by their ids.

Free of TensorFlow and of JAX until an environment is checked or made.
"""

import difflib
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium

from agents.parts.settings import SettingError, nearest
from agents.tools import constructors
from agents.tools.faults import EnvironmentFault

# Whose environments have ids of the form library:name.
LIBRARIES = ("gymnax", "brax")
_FORMS = "gymnax:CartPole-v1, brax:ant or module:function"


class JaxTask(NamedTuple):
    """One environment as pure functions, which JAX can trace and vectorize.

    All that changes is in the state, any tree of arrays (`jax.tree`) whose structure,
    shapes and dtypes stay the same. All randomness follows from the key, which is
    another one in each call.

    Attributes:
        reset: `reset(key) -> (state, observation)`, where an episode starts.
        step: `step(state, action, key) -> (state, observation, reward, terminated,
            truncated)`. The action has the shape of its space and its dtype, or the
            32-bit one while JAX has no 64-bit numbers. Reward and flags have the
            shape (). Truncated is only what the task itself cuts off.
        observation_space: of Box, Discrete, MultiDiscrete, MultiBinary, Dict and Tuple.
        action_space: one of Box, Discrete, MultiDiscrete, MultiBinary.
        max_length: steps after which an episode is truncated; None: no limit.
    """

    reset: Callable[[Any], tuple[Any, Any]]
    step: Callable[[Any, Any, Any], tuple[Any, Any, Any, Any, Any]]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    max_length: int | None = None


def check(env: Any) -> None:
    """Check that there is such an environment, without making it.

    Args:
        env: an id `gymnax:...` or `brax:...`, or a function that takes nothing and
            returns a `JaxTask`.

    Raises:
        SettingError: There is none, or a package is missing.
    """
    if _missing("jax"):
        raise SettingError(
            "The backend jax needs the package jax, which is not installed: "
            "pip install -e '.[jax]'."
        )
    if not isinstance(env, str):
        _check_function(env)
        return
    library, colon, env_id = env.partition(":")
    if not colon or library not in LIBRARIES:
        raise SettingError(
            f"The backend jax has no env {env!r}{_near(env)}: use {_FORMS}."
        )
    if _missing(library):
        raise SettingError(
            f"The env {env!r} needs the package {library}, which is not installed: "
            "pip install -e '.[jax]'."
        )
    known = _ids(library)
    if env_id not in known:
        raise SettingError(
            f"The library {library} has no env {env_id!r}{nearest(env_id, known)}"
        )


def make(env: Any, num_envs: int, max_length: int | None) -> Any:
    """Return environments as an `InGraphEnv`, wholly compilable.

    Args:
        env: as for `check`.
        num_envs: how many.
        max_length: steps after which an episode is truncated; None: the task's limit.

    Raises:
        SettingError: There is no such environment, it is no pure function, what it
            returns does not fit its spaces, or nothing limits its episodes.
        EnvironmentFault: The function raised an error of its own.
    """
    check(env)
    _prefer_cpu()
    name = constructors.name_of(env)
    if isinstance(env, str):
        task = _libraries().make(env)
    else:
        task = _call(env, name)
    if max_length is None and task.max_length is None:
        raise SettingError(
            f"The environment {name} has no limit to the length of its episodes, so "
            "that an evaluation might never end: add --set=max_length=1000, say."
        )
    module = importlib.import_module("agents.environments.jax_in_graph")
    limited = task._replace(max_length=max_length or task.max_length)
    return module.JaxEnv(limited, name, num_envs, trusted=isinstance(env, str))


def _call(function: Callable[[], Any], name: str) -> JaxTask:
    try:
        task = function()
    except Exception as error:
        fault = EnvironmentFault.of([0], "could not be constructed", error)
        raise fault from None
    if not isinstance(task, JaxTask):
        raise SettingError(
            f"The function {name} returned {task!r}, where the backend jax expects a "
            f"JaxTask of {__name__}."
        )
    return task


def _check_function(env: Any) -> None:
    # What the command line imported is wrapped, whatever it is.
    function = getattr(env, "function", env)
    if not callable(function):
        raise SettingError(
            f"The env {getattr(env, 'path', env)} must be a function that returns a "
            f"JaxTask, but is {function!r}."
        )


def _near(env_id: str) -> str:
    """Return which env of a library may have been meant, or nothing."""
    installed = [name for name in LIBRARIES if not _missing(name)]
    known = {env: f"{name}:{env}" for name in installed for env in _ids(name)}
    near = difflib.get_close_matches(env_id.rpartition(":")[-1], known, 3, 0.6)
    return f" (did you mean {' or '.join(known[env] for env in near)}?)" if near else ""


def _ids(library: str) -> list[str]:
    _prefer_cpu()
    return _libraries().ids(library)


def _libraries() -> Any:
    return importlib.import_module("agents.environments.jax_libraries")


def _prefer_cpu() -> None:
    """Let JAX run where the arrays are, unless the person chose otherwise.

    The environment variable would be too late where the person's module imported JAX.
    """
    jax = importlib.import_module("jax")
    if not jax.config.jax_platforms:
        jax.config.update("jax_platforms", "cpu")


def _missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None
