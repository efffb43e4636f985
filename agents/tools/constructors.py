"""From the name of an environment to a running batch, without TensorFlow."""

import functools
import importlib
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium

from agents.parts.settings import SettingError
from agents.tools.batch_env import BatchEnv
from agents.tools.faults import EnvironmentFault
from agents.tools.wrappers.external_process import ExternalProcess

Environment = str | Callable[..., gymnasium.Env]

# Packages that register environments when they are imported: how their ids are known,
# and what installs them.
_PACKAGES = (
    ("BulletEnv-v", "pybullet_envs_gymnasium", "-e '.[bullet]'"),
    ("ALE/", "ale_py", "ale-py"),
    ("MiniGrid-", "minigrid", "minigrid"),
)
# Packages that the environments of Gymnasium itself need, by their modules.
_REQUIREMENTS = (
    ("gymnasium.envs.mujoco", "mujoco", "-e '.[mujoco]'"),
    ("gymnasium.envs.box2d", "Box2D", "'gymnasium[box2d]'"),
)


def check_environment(env: Environment) -> None:
    """Check that an environment can be made, as far as can be told without making it.

    Args:
        env: id, or a function that takes nothing but an optional `render_mode`.

    Raises:
        SettingError: Says what is missing and what to do.
    """
    if callable(env):
        return
    spec = _find(env)
    for module, package, extra in _REQUIREMENTS:
        if str(spec.entry_point).startswith(module) and _missing(package):
            raise _not_installed(env, package, extra)


def make_environment(
    env: Environment, max_length: int | None, render_mode: str | None = None
) -> gymnasium.Env:
    """Make one environment.

    Args:
        env: as for `check_environment`.
        max_length: steps after which an episode is truncated; None: by its own limit.
        render_mode: of Gymnasium; None where nothing is rendered.

    Raises:
        SettingError: Nothing limits the length of its episodes.
    """
    # The batch checks what it is given, at a tenth of the cost of Gymnasium's checker.
    options = {"disable_env_checker": True}
    rendering = {} if render_mode is None else {"render_mode": render_mode}
    if callable(env):
        made = env(**rendering)
        if max_length is not None:
            made = gymnasium.wrappers.TimeLimit(made, max_length)
    else:
        _find(env)
        limit = {} if max_length is None else {"max_episode_steps": max_length}
        made = gymnasium.make(env, **options, **limit, **rendering)
    if not _is_limited(made):
        raise SettingError(
            f"The environment {name_of(env)} has no limit to the length of its "
            "episodes, so that an evaluation might never end: add "
            "--set=max_length=1000, say."
        )
    return made


def name_of(env: Environment) -> str:
    """Return the name by which `--set=env=...` finds an environment."""
    if isinstance(env, str):
        return env
    name = getattr(env, "__qualname__", type(env).__qualname__)
    return getattr(env, "path", f"{env.__module__}:{name}")


def make_batch(
    constructors: Sequence[Callable[[], gymnasium.Env]],
) -> BatchEnv:
    """Make a batch within this process.

    Raises:
        EnvironmentFault: Names the environment whose constructor raised.
        SettingError: The constructor found a mistake in what was asked of it.
    """
    envs: list[gymnasium.Env] = []
    for index, constructor in enumerate(constructors):
        try:
            envs.append(constructor())
        except Exception as error:
            for env in envs:
                env.close()
            if isinstance(error, SettingError):
                raise
            fault = EnvironmentFault.of([index], "could not be constructed", error)
            raise fault from None
    return BatchEnv(envs)


def start_members(
    constructor: Callable[[], gymnasium.Env],
    num_envs: int,
    workers: int,
    timeout: float,
) -> list[ExternalProcess]:
    """Start worker processes for a batch; they are waited for when it is made.

    Args:
        constructor: of one environment; takes nothing.
        num_envs: how many environments there are to be.
        workers: processes among which they are divided as evenly as can be.
        timeout: seconds that construction, a step or a reset may take.

    Raises:
        UnpicklableConstructor: The constructor can't be pickled.
    """
    started: list[ExternalProcess] = []
    shares = _shares(num_envs, min(workers, num_envs))
    # Where each core has a worker, one is not to wait for another's core, as they all
    # wake at the same moment.
    cores: list[int | None] = sorted(available_cores())
    if len(shares) != len(cores):
        cores = [None] * len(shares)
    try:
        for share, core in zip(shares, cores, strict=True):
            make = functools.partial(make_batch, [constructor] * share)
            started.append(ExternalProcess(make, timeout, with_infos=False, core=core))
    except BaseException:
        for worker in started:
            worker.kill()
        raise
    return started


def available_cores() -> set[int]:
    """Return the processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _shares(total: int, parts: int) -> list[int]:
    return [math.ceil((total - part) / parts) for part in range(parts)]


def _find(env_id: str) -> Any:
    for mark, package, extra in _PACKAGES:
        if mark in env_id and ":" not in env_id:
            if _missing(package):
                raise _not_installed(env_id, package, extra)
            importlib.import_module(package)
    module, _, name = env_id.rpartition(":")
    try:
        if module:
            importlib.import_module(module)
        return gymnasium.spec(name)
    except ImportError as error:
        raise SettingError(
            f"The module of env {env_id!r} is missing: {error}."
        ) from error
    except gymnasium.error.Error as error:
        raise SettingError(f"The env {env_id!r} is not registered: {error}") from error


def _is_limited(env: gymnasium.Env) -> bool:
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return True
        env = env.env
    return False


def _missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def _not_installed(env_id: str, package: str, extra: str) -> SettingError:
    return SettingError(
        f"The env {env_id!r} needs the package {package}, which is not installed: "
        f"pip install {extra}."
    )
