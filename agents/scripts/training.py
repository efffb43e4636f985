"""From a config and its environments to the objects of a run, and through it."""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from agents.algorithms import trainers
from agents.algorithms.algorithm import Algorithm
from agents.parts import randomness
from agents.parts.network import Network
from agents.parts.settings import SettingError, nearest
from agents.scripts import config_file, networks
from agents.scripts.config import Config
from agents.scripts.environments import Environments
from agents.tools import constructors, writers
from agents.tools.console import Console
from agents.tools.debug_numerics import operations_checked
from agents.tools.evaluation import Evaluation
from agents.tools.in_graph_env import InGraphEnv
from agents.tools.loop import Loop, Schedule
from agents.tools.run_directory import RunDirectory
from agents.tools.training_graph import TrainingGraph

_NETWORK_ARGUMENTS = ["settings", "observation_space", "action_space", "seed"]


def train(
    config: Config,
    environments: Environments,
    run: RunDirectory | None,
    resume: bool,
    debug_numerics: bool = False,
) -> None:
    """Train by a config.

    Args:
        config: of the run.
        environments: of that config.
        run: where it is stored, made unless it is resumed; None: nowhere.
        resume: whether to go on from its last checkpoint.
        debug_numerics: whether to check the result of each operation, slowly.

    Raises:
        SettingError: Settings, network and environment don't go together.
        UnsupportedSpace: The algorithm can't deal with a space.
        RunFault: An environment or the algorithm failed, or the checkpoint is damaged.
        StorageFault: The run directory can't be written to.
        Stopped: By a signal.
    """
    env = environments.training()
    algorithm = build_algorithm(config, env)
    loop = Loop(
        Schedule(config.steps, config.eval_every, config.checkpoint_steps, config.seed),
        TrainingGraph(env, algorithm),
        Evaluation(environments.evaluation(), algorithm, config.eval_episodes),
        algorithm,
        Console(config.steps),
        run,
        writers.find(config) if run else None,
        config.keep_checkpoints,
    )
    with contextlib.ExitStack() as stack:
        if run:
            if not resume:
                run.create()
            stack.enter_context(run.locked())
            if resume:
                loop.resume()
            config_file.write(config, run.config)
        if debug_numerics:
            stack.enter_context(operations_checked())
        loop.run()


def build_algorithm(config: Config, env: InGraphEnv) -> Algorithm:
    """Make the algorithm of a config, untrained, for environments like the given.

    Raises:
        SettingError: The network is unknown, or settings don't go together.
        UnsupportedSpace: A space does not fit.
    """
    return trainers.find(config.algorithm).algorithm()(
        config.hyperparameters,
        env.observation_space,
        env.action_space,
        find_network(config.network),
        config.num_agents,
        randomness.integers([config.seed], 1)[0],
    )


def find_network(network: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a name stands for: those of `networks` that build one.

    Raises:
        SettingError: There is none of that name.
    """
    if callable(network):
        return functools.partial(_build_checked, network)
    known = {
        name: function
        for name, function in inspect.getmembers(networks, inspect.isfunction)
        if list(inspect.signature(function).parameters) == _NETWORK_ARGUMENTS
    }
    if network not in known:
        near = nearest(network, known)
        raise SettingError(f"The network {network!r} is unknown{near}")
    return known[network]


def _build_checked(function: Callable[..., Any], *arguments: Any) -> Network:
    name = constructors.name_of(function)
    try:
        inspect.signature(getattr(function, "function", function)).bind(*arguments)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"The network {name} must take {', '.join(_NETWORK_ARGUMENTS)}: {error}."
        ) from error
    built = function(*arguments)
    if not isinstance(built, Network):
        raise SettingError(
            f"The network {name} returned {built!r}, but must return a Network, such "
            "as FeedForward of agents.parts.network."
        )
    return built
