"""The environments of a run, started before TensorFlow is imported."""

import contextlib
import functools
import itertools
import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import gymnasium

from agents.parts.settings import SettingError
from agents.scripts.config import Config
from agents.tools import constructors
from agents.tools.batch_env import BatchEnv


class Environments(NamedTuple):
    """Attributes:
    training: `num_agents` environments.
    evaluation: as many, but no more than there are episodes to play.
    """

    training: BatchEnv
    evaluation: BatchEnv


@contextlib.contextmanager
def started(config: Config) -> Iterator[Environments]:
    """Have all environments of a config, and close them at the end.

    All workers start side by side.

    Raises:
        SettingError: The environment does not exist, or lacks a package.
        EnvironmentFault: It could not be constructed.
    """
    constructors.check_environment(config.env)
    make = functools.partial(
        constructors.make_environment, config.env, config.max_length
    )
    counts = (config.num_agents, min(config.eval_episodes, config.num_agents))
    workers = config.workers
    if workers is None:
        workers = len(os.sched_getaffinity(0))
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
            batches = [BatchEnv(group) for group in members]
        for batch in batches:
            stack.callback(batch.close)
        yield Environments(*batches)


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
    # Nothing is shown on a screen, which most machines for training do not have.
    os.environ.setdefault("MUJOCO_GL", "egl")
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    warnings.filterwarnings("ignore", ".*Overwriting existing videos")
    made = constructors.make_environment(env, max_length, render_mode="rgb_array")
    if made.render_mode != "rgb_array":
        raise SettingError(f"The env {env} can't be rendered as rgb_array.")
    name = str(getattr(env, "__name__", env)).replace("/", "-").replace(":", "-")
    return gymnasium.wrappers.RecordVideo(
        made,
        str(outdir),
        episode_trigger=lambda episode: episode < episodes,
        name_prefix=name,
        disable_logger=True,
    )
