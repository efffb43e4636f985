"""The environments of a run, started before TensorFlow is imported."""

import contextlib
import functools
import importlib
import itertools
import os
import pathlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium

from agents.parts.settings import SettingError
from agents.scripts import command_line
from agents.scripts.config import Config
from agents.tools import constructors
from agents.tools.batch_env import BatchEnv

# Each has `check(env)`, which raises a SettingError where it has no such environment,
# and `make(env, num_envs, max_length)`, which returns an `InGraphEnv`.
_MODULES = {
    "tensorflow": "classic_control",
    "envpool": "envpool_env",
    "jax": "jax_env",
}


class Environments(NamedTuple):
    """What makes the `InGraphEnv`s of a run, once TensorFlow is imported.

    Attributes:
        training: makes `num_agents` environments.
        evaluation: makes as many, but no more than there are episodes to play.
    """

    training: Callable[[], Any]
    evaluation: Callable[[], Any]


@contextlib.contextmanager
def started(config: Config) -> Iterator[Environments]:
    """Start what the environments of a config need, and end it afterwards.

    Raises:
        SettingError: The environment does not exist, or lacks a package, or its backend
            can't honour a setting.
        EnvironmentFault: It could not be constructed.
    """
    counts = (config.num_agents, min(config.eval_episodes, config.num_agents))
    if config.backend == "gymnasium":
        with _started_batches(config, counts) as batches:
            yield Environments(
                *(functools.partial(_in_graph, batch) for batch in batches)
            )
        return
    check(config)
    backend = _backend(config)
    with contextlib.ExitStack() as stack:

        def make(count: int) -> Any:
            env = backend.make(config.env, count, config.max_length)
            stack.callback(env.close)
            return env

        yield Environments(*(functools.partial(make, count) for count in counts))


def check(config: Config) -> None:
    """Check that the backend of a config can run its environment, without making it.

    Raises:
        SettingError: The environment does not exist, or lacks a package, or its backend
            can't honour a setting.
    """
    if config.restart_workers and (
        config.backend != "gymnasium" or config.workers == 0
    ):
        raise SettingError(
            "restart_workers needs worker processes, but there are none: leave it out."
        )
    if config.backend == "gymnasium":
        constructors.check_environment(config.env)
        return
    if config.workers is not None:
        raise SettingError(
            f"The backend {config.backend} has no worker processes: leave workers and "
            "--env_processes out."
        )
    _backend(config).check(config.env)


def _backend(config: Config) -> Any:
    if config.backend == "jax":
        command_line.import_tensorflow()  # As its libraries will, but quietly.
    return importlib.import_module(f"agents.environments.{_MODULES[config.backend]}")


def _in_graph(batch: BatchEnv) -> Any:
    # pylint: disable-next=import-outside-toplevel
    from agents.tools.in_graph_batch_env import InGraphBatchEnv

    return InGraphBatchEnv(batch)


@contextlib.contextmanager
def _started_batches(config: Config, counts: Sequence[int]) -> Iterator[list[BatchEnv]]:
    """Have batches of Gymnasium environments; all workers start side by side."""
    check(config)
    make = functools.partial(
        constructors.make_environment, config.env, config.max_length
    )
    workers = config.workers
    if workers is None:
        workers = len(constructors.available_cores())
    with contextlib.ExitStack() as stack:
        if workers == 0:
            batches = [constructors.make_batch([make] * count) for count in counts]
        else:
            members = [
                constructors.start_members(make, count, workers, config.timeout)
                for count in counts
            ]
            for worker in itertools.chain(*members):
                stack.callback(worker.close)
            restarts = config.restart_workers
            batches = [BatchEnv(group, restarts) for group in members]
        for batch in batches:
            stack.callback(batch.close)
        yield batches


def make_recorded(
    env: constructors.Environment,
    max_length: int | None,
    outdir: pathlib.Path,
    episodes: int,
) -> gymnasium.Env:
    """Make an environment that writes a video of each of its first episodes.

    Raises:
        SettingError: It can't be rendered.
    """
    # Neither screen nor sound, which most machines for training do not have.
    os.environ.setdefault("MUJOCO_GL", "egl")
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    warnings.filterwarnings("ignore", ".*Overwriting existing videos")
    made = constructors.make_environment(env, max_length, render_mode="rgb_array")
    if made.render_mode != "rgb_array":
        name = constructors.name_of(env)
        raise SettingError(f"The env {name} can't be rendered as rgb_array.")
    name = constructors.name_of(env).replace("/", "-").replace(":", "-")
    return gymnasium.wrappers.RecordVideo(
        made,
        str(outdir),
        episode_trigger=lambda episode: episode < episodes,
        name_prefix=name,
        disable_logger=True,
    )
