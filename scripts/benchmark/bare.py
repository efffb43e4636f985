"""Rates of environments alone: nothing is learned, and the actions are drawn before."""

import contextlib
import functools
from typing import Any

import gymnasium
import numpy as np

from agents.scripts import command_line, environments
from agents.tools import constructors
from agents.tools.batch_env import BatchEnv
from scripts.benchmark import turns
from scripts.benchmark.work import Work

_THREADS = 2
_TIMEOUT_SECONDS = 60.0
# Iterations in one call of a compiled program, whose start takes as long as hundreds of
# steps of a simple task.
_ROUNDS = 8


def measure_gymnasium(work: Work) -> float:
    """Return the steps per second of Gymnasium's own environments in this process."""
    envs = [gymnasium.make(work.env) for _ in range(work.num_envs)]
    actions = draw_actions(envs[0].action_space, work)
    for index, env in enumerate(envs):
        env.reset(seed=index)

    def iterate() -> int:
        for row in actions:
            for env, action in zip(envs, row, strict=True):
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()
        return work.steps_per_iteration

    return turns.rate_of(iterate, work)


def measure_workers(work: Work) -> float:
    """Return the steps per second of a `BatchEnv` of worker processes, one per core."""
    make = functools.partial(constructors.make_environment, work.env, None)
    cores = len(constructors.available_cores())
    members = constructors.start_members(make, work.num_envs, cores, _TIMEOUT_SECONDS)
    with contextlib.closing(BatchEnv(members)) as batch:
        actions = draw_actions(batch.action_space, work)
        batch.reset(seeds=range(work.num_envs))

        def iterate() -> int:
            for row in actions:
                batch.step(row)
            return work.steps_per_iteration

        return turns.rate_of(iterate, work)


def measure_envpool(work: Work) -> float:
    """Return the steps per second of EnvPool by its own interface.

    Where an episode ended, its next step is a reset, and counts as a step.
    """
    # pylint: disable=import-outside-toplevel, import-error
    import envpool

    pool = envpool.make_gymnasium(
        work.env, num_envs=work.num_envs, num_threads=_THREADS, seed=0
    )
    actions = draw_actions(pool.action_space, work)
    pool.reset()

    def iterate() -> int:
        for row in actions:
            pool.step(row)
        return work.steps_per_iteration

    return turns.rate_of(iterate, work)


def measure_compiled(work: Work, backend: str) -> float:
    """Return the steps per second of array programs, compiled as one XLA program."""
    with environments.started(work.config(backend)) as started:
        command_line.import_tensorflow()
        import tensorflow as tf  # pylint: disable=import-outside-toplevel

        env = started.training()
        actions = tf.constant(draw_actions(env.action_space, work))

        @tf.function(autograph=False, jit_compile=env.compilable or None)
        def play(state: Any, step: Any) -> Any:
            def advance(index: tf.Tensor, state: Any, _: Any) -> Any:
                return index + 1, *env.step(state, actions[index % work.horizon])

            # The steps are carried, since XLA would leave out what nobody asks for.
            return tf.while_loop(
                lambda index, *_: index < _ROUNDS * work.horizon,
                advance,
                (0, state, step),
                maximum_iterations=_ROUNDS * work.horizon,
            )

        state, _ = env.reset(tf.constant([0, 0]))
        state, step = env.step(state, actions[0])

        def iterate() -> int:
            nonlocal state, step
            _, state, step = play(state, step)
            float(step.reward[0])
            return _ROUNDS * work.steps_per_iteration

        return turns.rate_of(iterate, work)


def draw_actions(space: gymnasium.Space[Any], work: Work) -> np.ndarray:
    """Return the random actions of an iteration, [horizon, num_envs, ...]."""
    space.seed(0)
    drawn = [space.sample() for _ in range(work.steps_per_iteration)]
    return np.reshape(drawn, (work.horizon, work.num_envs, *space.shape)).astype(
        space.dtype
    )
