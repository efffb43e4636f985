"""Record demonstrations of a trained policy: `python -m agents.scripts.record`.

They become a local Minari data set, whose id `demonstrations` takes.
"""

import argparse
import importlib.util
import pathlib
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from agents.parts.settings import SettingError
from agents.scripts import command_line, environments, restored
from agents.scripts.config import Config
from agents.tools import constructors, run_directory


def main(arguments: Sequence[str] | None = None) -> None:
    """Play and store episodes; exits with the codes of `command_line.exit_codes`."""
    options = parse(arguments)
    command_line.set_tensorflow_defaults()
    with command_line.exit_codes():
        _check_dataset(options.dataset)
        run = run_directory.find_newest(pathlib.Path(options.logdir))
        config = restored.read_config(run, command_line.given(options.set))
        with environments.started(config) as started:
            command_line.import_tensorflow()
            # pylint: disable=import-outside-toplevel
            from agents.parts import randomness
            from agents.tools import recording

            env = started.evaluation()
            policy = restored.policy(config, run, env, options.best)
            seed = randomness.integers([options.seed], 2)
            episodes = recording.record(env, policy, options.episodes, seed)
        scores = [float(np.sum(episode["rewards"])) for episode in episodes]
        _store(options.dataset, config, env, episodes)
        steps = sum(len(episode["rewards"]) for episode in episodes)
        print(
            f"Recorded {options.dataset}: {len(episodes)} episodes, {steps:,} "
            f"transitions, score {np.mean(scores):.1f} +- {np.std(scores):.1f}."
        )


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser(prog="record", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--logdir", default="runs", help="a run, or a folder of runs: its newest"
    )
    parser.add_argument(
        "--dataset", required=True, help="id of the new data set, such as pole/best-v0"
    )
    parser.add_argument(
        "--episodes", type=command_line.positive, default=20, help="least number"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="of the environments")
    parser.add_argument(
        "--best",
        action="store_true",
        help="take the checkpoint with the best evaluation, not the newest",
    )
    command_line.add_set(parser, "env or network, where the run names code for them")
    return parser.parse_args(arguments)


def _seed(text: str) -> int:
    """Parse a whole number.

    Raises:
        ArgumentTypeError: It is none.
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number.")
    return int(text)


def _check_dataset(name: str) -> None:
    """Check that a data set can be made, before anything is played.

    Raises:
        SettingError: Its name is taken, or is none; or Minari is missing.
    """
    if importlib.util.find_spec("minari") is None:
        raise SettingError(
            "Recording needs the package minari: pip install -e '.[minari]'."
        )
    # pylint: disable=import-outside-toplevel
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        parse_dataset_id(name)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"--dataset={name} is no id of a data set: choose one like pole/best-v0."
        ) from error
    path = get_dataset_path(name)
    if path.exists():
        raise SettingError(
            f"--dataset={name} exists already in {path}: choose another name or "
            "version, or remove it."
        )


def _store(
    name: str, config: Config, env: Any, episodes: Sequence[dict[str, Any]]
) -> None:
    """Make a data set of episodes.

    Raises:
        SettingError: Minari refuses it.
    """
    # pylint: disable=import-outside-toplevel
    import minari
    from minari.data_collector import EpisodeBuffer

    try:
        with warnings.catch_warnings():
            # About authors and permalinks, which a local data set can do without.
            warnings.simplefilter("ignore", UserWarning)
            minari.create_dataset_from_buffers(
                name,
                [EpisodeBuffer(id=i, **part) for i, part in enumerate(episodes)],
                env=_gymnasium_env(config),
                observation_space=env.observation_space,
                action_space=env.action_space,
                algorithm_name=config.algorithm,
                data_format="hdf5",
                # JPEG changes images, and has no room for four channels.
                jpeg_encoding=False,
            )
    except ValueError as error:
        raise SettingError(f"--dataset={name} can't be made: {error}") from error


def _gymnasium_env(config: Config) -> gymnasium.Env | None:
    """Return the environment for a data set to name; None: Gymnasium can't make it."""
    known = isinstance(config.env, str) and config.env in gymnasium.registry
    if config.backend != "gymnasium" and not known:
        return None
    try:
        env = constructors.make_environment(config.env, config.max_length)
        env.spec.to_json()  # In which form a data set has it.
    except Exception:  # pylint: disable=broad-exception-caught
        return None
    return env


if __name__ == "__main__":
    main()
