"""See a run act: `python -m agents.scripts.visualize`.

Writes a video and a line of statistics for each episode, and the learning curve. The
video is of Gymnasium's environment, whatever backend the run was trained on.
"""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts import nests
from agents.parts.settings import SettingError
from agents.scripts import command_line, config_file, environments, restored
from agents.scripts.config import Config
from agents.tools import constructors, run_directory
from agents.tools.batch_env import BatchEnv
from agents.tools.faults import EnvironmentFault
from agents.tools.run_directory import RunDirectory
from agents.tools.wrappers.external_process import ExternalProcess

# Seconds for a step or reset; a reset may have to encode the video of an episode.
_TIMEOUT = 300.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Play episodes; exits with the codes of `command_line.exit_codes`."""
    options = parse(arguments)
    command_line.set_tensorflow_defaults()
    with command_line.exit_codes():
        run = run_directory.find_newest(pathlib.Path(options.logdir))
        given = command_line.given(options.set)
        config = config_file.read(run.config, given)
        if changed := config.replace(**given).differences(config):
            raise SettingError(f"{changed[0]} is that of the run: leave it out.")
        outdir = make_outdir(options.outdir or run.path / "videos")
        draw_scores(run, outdir / "scores.png")
        began = time.time()
        with contextlib.ExitStack() as stack:
            env = open_env(stack, config, outdir, options.episodes)
            statistics = play(config, run, env, options.episodes, options.best)
        write_statistics(statistics, outdir / "statistics.json")
        videos = outdir.glob("*.mp4")
        has_video = any(path.stat().st_mtime >= began - 1 for path in videos)
        if not has_video and config.backend == "gymnasium":
            name = constructors.name_of(config.env)
            raise SettingError(f"No video was written: {name} renders no pictures.")
        print(f"{'Videos, s' if has_video else 'S'}tatistics and curve: {outdir}")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser(prog="visualize", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--logdir", default="runs", help="a run, or a folder of runs: its newest"
    )
    parser.add_argument("--outdir", help="folder to write to; default: <run>/videos")
    parser.add_argument(
        "--episodes", type=command_line.positive, default=3, help="how many to play"
    )
    parser.add_argument(
        "--best",
        action="store_true",
        help="take the checkpoint with the best evaluation, not the newest",
    )
    command_line.add_set(parser, "env or network, where the run names code for them")
    return parser.parse_args(arguments)


def make_outdir(path: str | pathlib.Path) -> pathlib.Path:
    """Make the folder to write to.

    Raises:
        SettingError: It can't be made.
    """
    outdir = pathlib.Path(path)
    try:
        outdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"{outdir} can't be made: {error.strerror}.") from error
    return outdir


def open_env(
    stack: contextlib.ExitStack, config: Config, outdir: pathlib.Path, episodes: int
) -> Any:
    """Return one environment as an `InGraphEnv`, closed with the stack.

    It is Gymnasium's of the same id, which records its first episodes, if there is one
    like that of the run; otherwise the one of the run's own backend.

    Raises:
        SettingError: The environment does not exist, or lacks a package.
        EnvironmentFault: It could not be constructed.
    """
    if config.backend == "gymnasium":
        return _open_recorded(stack, config, outdir, episodes)
    single = config.replace(num_agents=1)
    started = stack.enter_context(environments.started(single))
    command_line.import_tensorflow()
    own = started.evaluation()
    env_id = constructors.name_of(config.env).rpartition(":")[2]
    reason = f"Gymnasium has no env {env_id!r} like that of the backend"
    if env_id in gymnasium.registry:
        twin = config.replace(backend="gymnasium", env=env_id)
        try:
            recorded = _open_recorded(stack, twin, outdir, episodes)
            if _form(recorded) == _form(own):
                return recorded
        except SettingError as error:
            reason = str(error)
    print(f"There will be no video: the backend {config.backend} renders no pictures.")
    print(f"({reason})")
    return own


def start_recorded(config: Config, outdir: pathlib.Path, episodes: int) -> BatchEnv:
    """Start one environment that records its first episodes.

    It has a process to itself: OpenGL wants to be called from one thread only.

    Raises:
        SettingError: The environment does not exist, or lacks a package.
        EnvironmentFault: It could not be constructed.
    """
    constructors.check_environment(config.env)
    make = functools.partial(
        environments.make_recorded, config.env, config.max_length, outdir, episodes
    )
    batch = functools.partial(constructors.make_batch, [make])
    return BatchEnv([ExternalProcess(batch, _TIMEOUT, with_infos=False)])


def play(config: Config, run: RunDirectory, env: Any, episodes: int, best: bool) -> Any:
    """Restore the policy and play; return the statistics of the episodes.

    Args:
        config: of the run.
        run: that has the policy.
        env: an `InGraphEnv`.
        episodes: how many to play at least.
        best: whether to take the checkpoint with the best evaluation, not the newest.

    Raises:
        EnvironmentFault: The environment failed, or can't be rendered.
        CheckpointError: The checkpoint is damaged.
        SettingError: No evaluation has taken place.
    """
    # pylint: disable=import-outside-toplevel
    from agents.parts import randomness
    from agents.tools.evaluation import Evaluation

    algorithm = restored.policy(config, run, env, best)
    seed = randomness.integers([config.seed], 2)
    try:
        return Evaluation(env, algorithm, episodes).run(seed)
    except EnvironmentFault as fault:
        raise _with_remedy(fault) from fault


def write_statistics(statistics: Any, path: pathlib.Path) -> None:
    """Write score and length of each episode, and their mean and deviation."""
    episodes = [
        {"score": score, "length": length}
        for score, length in zip(statistics.scores, statistics.lengths, strict=True)
    ]
    document = {"episodes": episodes, **_without_count(statistics.summary())}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    for number, episode in enumerate(episodes):
        print(
            f"episode {number}: score {episode['score']:.1f}, {episode['length']} steps"
        )


def draw_scores(run: RunDirectory, path: pathlib.Path) -> None:
    """Draw the learning curve of a run from its metrics file."""
    # pylint: disable=import-outside-toplevel
    import matplotlib.figure

    lines = run_directory.read_metrics(run.metrics)
    figure = matplotlib.figure.Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for phase in ("train", "eval"):
        rows = [
            (line["step"], line["mean_score"], line["std_score"])
            for line in lines
            if line["phase"] == phase and line["mean_score"] is not None
        ]
        if rows:
            steps, means, deviations = zip(*rows, strict=True)
            axes.errorbar(steps, means, deviations, label=phase, marker="o", capsize=3)
    axes.set(title=run.path.name, xlabel="environment steps", ylabel="score")
    if lines:
        axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def _open_recorded(
    stack: contextlib.ExitStack, config: Config, outdir: pathlib.Path, episodes: int
) -> Any:
    batch = start_recorded(config, outdir, episodes)
    stack.callback(batch.close)
    command_line.import_tensorflow()
    # pylint: disable-next=import-outside-toplevel
    from agents.tools.in_graph_batch_env import InGraphBatchEnv

    return InGraphBatchEnv(batch)


def _form(env: Any) -> list[Any]:
    """Return what a network depends on of the spaces of an environment."""
    leaves = nests.leaf_spaces(env.observation_space) + [env.action_space]
    sizes = [getattr(leaf, "n", getattr(leaf, "nvec", ())) for leaf in leaves]
    return [
        (type(leaf), leaf.shape, nests.leaf_dtype(leaf).kind, np.ravel(size).tolist())
        for leaf, size in zip(leaves, sizes, strict=True)
    ]


def _without_count(summary: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name != "episodes"}


def _with_remedy(fault: EnvironmentFault) -> EnvironmentFault:
    marks = ("OpenGL", "EGL", "eglQueryString", "OSMesa")
    if not any(mark in fault.reason for mark in marks):
        return fault
    backend = os.environ.get("MUJOCO_GL", "egl")
    return EnvironmentFault(
        fault.indices,
        f"{fault.reason} (MUJOCO_GL={backend}). Without a screen MuJoCo renders by "
        "EGL: apt-get install libegl1 libgl1-mesa-dri; or by software: apt-get install "
        "libosmesa6, and MUJOCO_GL=osmesa.",
        fault.remote_traceback,
    )


if __name__ == "__main__":
    main()
