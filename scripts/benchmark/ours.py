"""Rates of this project: training, and the update alone."""

import contextlib
import math
import time
from typing import Any

from agents.parts.settings import SettingError
from agents.scripts import command_line, environments
from scripts.benchmark import turns
from scripts.benchmark.work import Work


def measure_training(work: Work, backend: str, workers: int | None = None) -> float:
    """Return the steps per second of training.

    Args:
        work: to be done.
        backend: what runs the environments.
        workers: processes for them.
    """
    with contextlib.ExitStack() as stack:
        env, algorithm = _build(stack, work, backend, workers)
        # pylint: disable=import-outside-toplevel
        from agents.tools.loop import CALL_SECONDS
        from agents.tools.training_graph import TrainingGraph

        graph = TrainingGraph(env, algorithm)
        carry = graph.start([0, 0])
        updates, seconds = 0, math.inf

        def iterate() -> int:
            nonlocal carry, updates, seconds
            began = time.perf_counter()
            # As many iterations in a call as the training loop would have.
            count = max(1, min(graph.most_iterations, int(CALL_SECONDS / seconds)))
            seeds = [[1, updates + index] for index in range(count)]
            carry, _, _ = graph.iterate(carry, seeds, [0.0] * count, last=False)
            updates += count
            seconds = (time.perf_counter() - began) / count
            return count * graph.steps_per_iteration

        iterate()
        return turns.rate_of(iterate, work)


def measure_update(work: Work) -> float:
    """Return the environment steps per second that can be learned from.

    The trajectory is a rollout of the untrained policy, the same for each update.
    """
    backend = _any_backend(work)
    workers = 0 if backend == "gymnasium" else None
    with contextlib.ExitStack() as stack:
        env, algorithm = _build(stack, work, backend, workers)
        # pylint: disable=import-outside-toplevel
        import tensorflow as tf

        from agents.tools import simulation

        @tf.function(autograph=False, jit_compile=env.compilable or None)
        def roll_out(carry: simulation.Carry) -> Any:
            _, trajectory, _ = simulation.simulate(
                env, algorithm, carry, work.horizon, training=True
            )
            return trajectory

        trajectory = roll_out(simulation.start(env, algorithm, tf.constant([0, 0])))
        updates = 0

        def iterate() -> int:
            nonlocal updates
            updates += 1
            seed = tf.constant([1, updates])
            metrics = algorithm.update(trajectory, seed, tf.constant(0.0))
            float(metrics["policy_loss"])
            return work.steps_per_iteration

        return turns.rate_of(iterate, work)


def _build(
    stack: contextlib.ExitStack, work: Work, backend: str, workers: int | None
) -> tuple[Any, Any]:
    """Return the `InGraphEnv`, open as long as the stack, and the algorithm."""
    config = work.config(backend, workers)
    started = stack.enter_context(environments.started(config))
    command_line.import_tensorflow()
    # pylint: disable-next=import-outside-toplevel
    from agents.scripts import training

    env = started.training()
    return env, training.build_algorithm(config, env)


def _any_backend(work: Work) -> str:
    """Return the first backend that has the environment."""
    suitable = filter(work.suits, ("tensorflow", "gymnasium", "envpool", "jax"))
    for backend in suitable:
        try:
            environments.check(work.config(backend))
            return backend
        except SettingError as error:
            reason = error
    raise reason
