"""The environments of gymnax and Brax as `JaxTask`s."""

import contextlib
import importlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from agents.environments.jax_env import JaxTask
from agents.parts.settings import SettingError

_BRAX_LENGTH = 1000


def ids(library: str) -> list[str]:
    """Return the ids of `gymnax` or `brax`, without the library's name."""
    if library == "gymnax":
        return list(importlib.import_module("gymnax").registered_envs)
    # The registry of Brax has no public name.
    return list(_brax_envs()._envs)  # pylint: disable=protected-access


def make(env: str) -> JaxTask:
    """Return the task of an id such as `gymnax:CartPole-v1` or `brax:ant`.

    Raises:
        SettingError: The library can't make it.
    """
    library, _, env_id = env.partition(":")
    try:
        return gymnax_task(env_id) if library == "gymnax" else brax_task(env_id)
    except Exception as error:
        raise SettingError(
            f"The env {env!r} can't be made by the {library} that is installed: "
            f"{type(error).__name__}: {error}."
        ) from error


def gymnax_task(env_id: str) -> JaxTask:
    """Return a task of gymnax, without its own reset and its own limit.

    The limit of its parameters becomes that of the task, so that terminated is the end
    of the task alone.
    """
    env, params = importlib.import_module("gymnax").make(env_id)
    observation_space = _space(env.observation_space(params))

    def reset(key: jax.Array) -> tuple[Any, Any]:
        observation, state = env.reset_env(key, params)
        return state, _cast(observation_space, observation)

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        # Pendulum wants a scalar or a vector of one, and clips; others as the space.
        observation, state, reward, terminated, _ = env.step_env(
            key, state, action, params
        )
        observation = _cast(observation_space, observation)
        return state, observation, reward, terminated, False

    return JaxTask(
        reset,
        step,
        observation_space,
        _space(env.action_space(params)),
        int(params.max_steps_in_episode),
    )


def brax_task(name: str) -> JaxTask:
    """Return a task of Brax, without its wrappers; its limit is 1000 steps."""
    with _quiet():
        env = _brax_envs().get_environment(name)
    observation = jax.eval_shape(env.reset, jax.random.key(0)).obs
    sizes = jax.tree.map(lambda leaf: _unbounded(leaf.shape), observation)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = env.reset(key)
        return state, state.obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        del key
        state = env.step(state, action)
        return state, state.obs, state.reward, state.done, False

    return JaxTask(
        reset,
        step,
        gymnasium.spaces.Dict(sizes) if isinstance(sizes, dict) else sizes,
        gymnasium.spaces.Box(-1, 1, (env.action_size,)),
        _BRAX_LENGTH,
    )


def _unbounded(shape: tuple[int, ...]) -> gymnasium.Space:
    return gymnasium.spaces.Box(-np.inf, np.inf, shape)


def _space(space: Any) -> gymnasium.Space:
    """Return the Gymnasium space that a gymnax space stands for."""
    spaces = importlib.import_module("gymnax.environments.spaces")
    if isinstance(space, spaces.Discrete):
        return gymnasium.spaces.Discrete(int(space.n))
    if isinstance(space, spaces.Dict):
        parts = {name: _space(part) for name, part in space.spaces.items()}
        return gymnasium.spaces.Dict(parts)
    if isinstance(space, spaces.Tuple):
        return gymnasium.spaces.Tuple([_space(part) for part in space.spaces])
    if not isinstance(space, spaces.Box):
        raise TypeError(f"the space {space} has no counterpart in Gymnasium")
    dtype = np.dtype(space.dtype)
    low, high = (
        np.broadcast_to(np.asarray(bound, dtype), space.shape)
        for bound in (space.low, space.high)
    )
    if dtype.kind == "f":
        # By the largest number gymnax means that there is no bound.
        largest = np.nextafter(dtype.type(np.inf), dtype.type(0))
        low = np.where(low <= -largest, -np.inf, low).astype(dtype)
        high = np.where(high >= largest, np.inf, high).astype(dtype)
    return gymnasium.spaces.Box(low, high, tuple(space.shape), dtype.type)


def _cast(space: gymnasium.Space, observation: Any) -> Any:
    """Give an observation the dtype of its space: gymnax is not strict about it."""
    if isinstance(space, gymnasium.spaces.Dict):
        return {name: _cast(part, observation[name]) for name, part in space.items()}
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(map(_cast, space, observation))
    return jnp.asarray(observation).astype(jax.dtypes.canonicalize_dtype(space.dtype))


def _brax_envs() -> Any:
    with _quiet():
        return importlib.import_module("brax.envs")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep back what Brax says about packages that it can do without, and its age."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
