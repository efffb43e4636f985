"""A run as it was saved: its config, and the policy of one of its checkpoints."""

from collections.abc import Mapping
from typing import Any

from agents.parts.settings import SettingError
from agents.scripts import config_file
from agents.scripts.config import Config
from agents.tools import run_directory
from agents.tools.run_directory import RunDirectory


def read_config(run: RunDirectory, given: Mapping[str, Any]) -> Config:
    """Return the config of a run.

    Args:
        run: that has it.
        given: settings from the command line: the code that the run names, and nothing
            that it has otherwise.

    Raises:
        SettingError: The config is broken, or names other code; or a setting is not
            that of the run.
    """
    config = config_file.read(run.config, given)
    if changed := config.replace(**given).differences(config):
        raise SettingError(f"{changed[0]} is that of the run: leave it out.")
    return config


def policy(config: Config, run: RunDirectory, env: Any, best: bool) -> Any:
    """Return the algorithm of a run as it was saved.

    Args:
        config: of the run.
        run: that has it.
        env: an `InGraphEnv` like those that it was trained in.
        best: whether to take the checkpoint with the best evaluation, not the newest.

    Raises:
        CheckpointError: The checkpoint is damaged.
        SettingError: No evaluation has taken place.
    """
    # pylint: disable=import-outside-toplevel
    from agents.scripts import training
    from agents.tools.checkpoints import Checkpoints

    algorithm = training.build_algorithm(config, env)
    checkpoints = Checkpoints(run.checkpoints, algorithm=algorithm)
    if best:
        checkpoints.restore_step(best_step(run))
    else:
        checkpoints.restore()
    return algorithm


def best_step(run: RunDirectory) -> int:
    """Return the step of the checkpoint whose evaluation was best.

    Raises:
        SettingError: None was evaluated.
    """
    lines = run_directory.read_metrics(run.metrics)
    step = run.best_step(run_directory.evaluations(lines))
    if step is None:
        raise SettingError(
            f"The run {run.path} has no evaluation yet: leave --best out."
        )
    return step
