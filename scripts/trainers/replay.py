"""What appending to a replay memory costs, by its capacity."""

import argparse
import functools
import statistics
import time
from collections.abc import Callable

from agents.scripts import command_line

CAPACITIES = (10_000, 100_000, 1_000_000)
_ENVS, _STEPS, _CALLS = 8, 32, 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--turns", type=command_line.positive, default=9)


def run(options: argparse.Namespace) -> None:
    """Append 32 steps of 8 environments again and again, and print a table."""
    calls = _calls()
    seconds: dict[tuple[str, int], list[float]] = {key: [] for key in calls}
    for _ in range(options.turns):
        for key, append in calls.items():
            began = time.perf_counter()
            for _ in range(_CALLS):
                append()
            seconds[key].append((time.perf_counter() - began) / _CALLS)
    print("| memory | capacity | microseconds | ratio |")
    print("| --- | --- | --- | --- |")
    for (name, capacity), values in seconds.items():
        median = statistics.median(values)
        base = statistics.median(seconds[name, CAPACITIES[0]])
        print(f"| {name} | {capacity:,} | {median * 1e6:.0f} | {median / base:.2f} |")


def _calls() -> dict[tuple[str, int], Callable[[], None]]:
    """Return what appends to each memory, all of which are full."""
    command_line.import_tensorflow()
    # pylint: disable=import-outside-toplevel
    import gymnasium
    import numpy as np
    import tensorflow as tf

    from agents.algorithms.experience import row_specs
    from agents.parts.replay import ReplayMemory

    observations = gymnasium.spaces.Box(-np.inf, np.inf, (17,), np.float32)
    specs = row_specs(observations, gymnasium.spaces.Box(-1, 1, (6,), np.float32))
    rows = tf.nest.map_structure(
        lambda spec: tf.zeros([_STEPS, _ENVS, *spec.shape], spec.dtype), specs
    )
    calls = {}
    for name, prioritized in (("uniform", False), ("prioritized", True)):
        for capacity in CAPACITIES:
            memory = ReplayMemory(specs, _ENVS, capacity, prioritized)
            append = tf.function(memory.append, jit_compile=True)
            # As often for each: memory is taken page by page.
            for _ in range(2 * max(CAPACITIES) // (_STEPS * _ENVS)):
                append(rows)
            calls[name, capacity] = functools.partial(append, rows)
    return calls
