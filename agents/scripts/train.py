"""Train agents: `python -m agents.scripts.train --config=pendulum`.

The training loop itself is `Loop.run` in `agents/tools/loop.py`.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from agents.parts.settings import SettingError
from agents.scripts import command_line, config_file, environments, presets
from agents.scripts.config import Config
from agents.tools import run_directory, stop_signal
from agents.tools.run_directory import RunDirectory

# Settings that may differ when a run is resumed: they do not change what is learned.
_RESUMABLE = ("steps", "timeout", "workers", "keep_checkpoints", "restart_workers")


def main(arguments: Sequence[str] | None = None) -> None:
    """Start or resume a run; exits with the codes of `command_line.exit_codes`."""
    options = parse(arguments)
    command_line.set_tensorflow_defaults()
    with command_line.exit_codes(), stop_signal.interruptible():
        if options.list:
            print(presets.listing())
            return
        if options.print:
            config = presets.find(options.config, _given(options))
            print(config_file.text_of(config), end="")
            return
        resume = options.timestamp is not None
        config, run = resumed(options) if resume else new(options)
        # Before TensorFlow, whose import takes longer than the workers' start.
        with environments.started(config) as started:
            command_line.import_tensorflow()
            from agents.scripts import training  # pylint: disable=import-outside-toplevel

            try:
                training.train(config, started, run, resume, options.debug_numerics)
            finally:
                if run and run.usable:
                    print(_next_commands(run, config), flush=True)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser(prog="train", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--config",
        help="a function in configs.py, package.module:function, or a file.yaml",
    )
    parser.add_argument(
        "--logdir", default="runs", help="folder of all runs; empty: store nothing"
    )
    parser.add_argument("--timestamp", help="of a run under --logdir, to resume it")
    parser.add_argument("--seed", type=int, help="of weights, environments, actions")
    command_line.add_set(parser, "another value of a setting of the config")
    parser.add_argument(
        "--env_processes",
        action="store_true",
        default=None,
        help="run environments in worker processes, one per core",
    )
    parser.add_argument(
        "--noenv_processes",
        dest="env_processes",
        action="store_false",
        help="the opposite",
    )
    parser.add_argument("--backend", help="what runs the environments")
    parser.add_argument(
        "--debug_numerics",
        action="store_true",
        help="run operation by operation, and name the first that gives no number",
    )
    parser.add_argument(
        "--print",
        action="store_true",
        help="print the config as a file for --config, and do nothing",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="print what there is: configs, trainers, backends, writers",
    )
    return parser.parse_args(arguments)


def new(options: argparse.Namespace) -> tuple[Config, RunDirectory | None]:
    """Return the config and the folder of a new run; nothing is written yet.

    Raises:
        SettingError: The config is unknown, or a setting wrong.
    """
    config = presets.find(options.config, _given(options))
    if not options.logdir:
        return config, None
    name = presets.name_of(options.config)
    return config, run_directory.new_run(pathlib.Path(options.logdir), name)


def resumed(options: argparse.Namespace) -> tuple[Config, RunDirectory]:
    """Return the config and the folder of a run that is to go on.

    Raises:
        SettingError: There is no usable run, or a setting differs that must not.
    """
    run = run_directory.find_run(pathlib.Path(options.logdir), options.timestamp)
    own_name = run.path.name.partition("-")[2]
    if options.config and presets.name_of(options.config) != own_name:
        raise SettingError(
            f"The run {run.path} began with --config={own_name}, so it can't go on "
            f"with {options.config!r}: leave --config out."
        )
    given = _given(options)
    stored = config_file.read(run.config, given)
    config = stored.replace(**given)
    for name in config.differences(stored):
        if name not in _RESUMABLE:
            raise SettingError(
                f"{name} can't change when a run is resumed: leave it out, or start a "
                "new run."
            )
    if config.steps < stored.steps:
        raise SettingError(
            f"steps can be raised when a run is resumed, but {config.steps:,} is less "
            f"than {stored.steps:,}."
        )
    if run.is_complete(config.steps):
        raise SettingError(
            f"The run {run.path} is complete: add --set=steps=... with more than "
            f"{config.steps:,} to go on."
        )
    return config, run


def _given(options: argparse.Namespace) -> dict[str, Any]:
    given = command_line.given(options.set)
    if options.seed is not None:
        given["seed"] = options.seed
    if options.backend is not None:
        given["backend"] = options.backend
    if options.env_processes is not None:
        given["workers"] = None if options.env_processes else 0
    return given


def _next_commands(run: RunDirectory, config: Config) -> str:
    python = "python"
    if shutil.which(python) != sys.executable:
        python = min(sys.executable, os.path.relpath(sys.executable), key=len)
    resume = f"{python} -m agents.scripts.train --timestamp={run.timestamp}"
    if str(run.path.parent) != "runs":
        resume += f" --logdir={shlex.quote(str(run.path.parent))}"
    path = shlex.quote(str(run.path))
    visualize = f"{python} -m agents.scripts.visualize --logdir={path}"
    # A run directory's word is not enough to import code.
    options = [f"--set={text}" for text in config_file.code_settings(config)]
    code = "".join(f" {shlex.quote(option)}" for option in options)
    return (
        f"Run directory: {run.path}\n"
        f"Resume it:     {resume}{code}\n"
        f"See it act:    {visualize}{code}"
    )


if __name__ == "__main__":
    main()
