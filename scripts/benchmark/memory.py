"""Resident memory over a long run of compiled CartPole, through `Loop.run`.

Python's garbage is collected before each sample, so that what grows is held. From a
tenth of the run on everything has been traced and compiled. A function that is traced
more than once would be a leak in the making.
"""

import argparse
import dataclasses
import gc
import os
import pathlib
from collections.abc import Sequence

from agents.scripts import command_line, configs, environments
from agents.scripts.config import Config
from agents.tools.console import Console
from scripts.benchmark import report

_LEAST_ITERATIONS = 200
_SAMPLES = 200
_MEBIBYTE = 2**20


@dataclasses.dataclass
class Memory:
    """What a run held, and how often it was traced.

    Attributes:
        samples: environment steps done, and resident bytes then.
        traces: by function.
        iterations: of the run.
    """

    samples: list[tuple[int, int]]
    traces: dict[str, int]
    iterations: int

    @property
    def early(self) -> int:
        """Resident bytes after a tenth of the run."""
        tenth = self.samples[-1][0] / 10
        return next(resident for step, resident in self.samples if step >= tenth)

    @property
    def late(self) -> int:
        """Resident bytes at the end."""
        return self.samples[-1][1]

    @property
    def growth(self) -> float:
        """From early to late, as a share of the early."""
        return self.late / self.early - 1


class Sampler(Console):
    """Takes a sample every so often, where otherwise progress is shown."""

    def __init__(self, steps: int, count: int):
        """Prepare to take about `count` samples in a run of `steps`."""
        super().__init__(steps)
        self.samples: list[tuple[int, int]] = []
        self._interval = steps / count
        self._steps = steps

    def advance(self, step: int, rate: float, score: float | None) -> None:
        """Take a sample if one is due."""
        super().advance(step, rate, score)
        last = self.samples[-1][0] if self.samples else 0
        if step - last >= self._interval or step >= self._steps:
            self.sample(step)

    def sample(self, step: int) -> None:
        """Take a sample."""
        gc.collect()
        self.samples.append((step, resident_bytes()))


def main(arguments: Sequence[str]) -> None:
    """Run, and print what was held."""
    options = parse(arguments)
    memory = watch(config_for(options.steps))
    table = report.table("CartPole-v1, backend tensorflow", "measure")
    report.add_columns(table, "value")
    for name, value in rows(memory):
        table.add_row(name, value)
    report.show(table)
    if options.json:
        report.write(options.json, {"memory": memory, "growth": memory.growth})


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = command_line.Parser("benchmark memory", description=__doc__)
    parser.add_argument(
        "--steps",
        type=lambda text: int(float(text)),
        default=5_000_000,
        help=f"environment steps, such as 5e6; at least {_LEAST_ITERATIONS} iterations",
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for all samples")
    options = parser.parse_args(arguments)
    least = _LEAST_ITERATIONS * _steps_per_iteration(configs.cartpole())
    if options.steps < least:
        parser.error(f"--steps must be at least {least}.")
    return options


def config_for(steps: int) -> Config:
    """Return the preset, with its first evaluation well within the first tenth."""
    return configs.cartpole().replace(
        backend="tensorflow", steps=steps, eval_every=max(steps // 20, 1)
    )


def watch(config: Config) -> Memory:
    """Train by a config, storing nothing but samples of the memory."""
    with environments.started(config) as started:
        command_line.import_tensorflow()
        # pylint: disable=import-outside-toplevel
        from agents.scripts import training
        from agents.tools.evaluation import Evaluation
        from agents.tools.loop import Loop, Schedule
        from agents.tools.training_graph import TrainingGraph

        env = started.training()
        algorithm = training.build_algorithm(config, env)
        graph = TrainingGraph(env, algorithm)
        evaluation = Evaluation(started.evaluation(), algorithm, config.eval_episodes)
        sampler = Sampler(config.steps, _SAMPLES)
        schedule = Schedule(
            config.steps, config.eval_every, config.checkpoint_steps, config.seed
        )
        loop = Loop(schedule, graph, evaluation, algorithm, sampler)
        loop.run()
        sampler.sample(loop.step)
        traces = {"update": algorithm.update.experimental_get_tracing_count()}
        traces |= graph.tracing_counts()
        traces |= {
            f"evaluation {name}": count
            for name, count in evaluation.tracing_counts().items()
        }
        return Memory(sampler.samples, traces, loop.step // graph.steps_per_iteration)


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = pathlib.Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def rows(memory: Memory) -> list[tuple[str, str]]:
    """Return the rows of the table: name and value."""
    most = max(resident for _, resident in memory.samples)
    return [
        ("environment steps", f"{memory.samples[-1][0]:,}"),
        ("iterations", f"{memory.iterations:,}"),
        ("resident after a tenth", f"{memory.early / _MEBIBYTE:,.1f} MiB"),
        ("resident at the end", f"{memory.late / _MEBIBYTE:,.1f} MiB"),
        ("growth", f"{memory.growth:+.2%}"),
        ("most of all samples", f"{most / _MEBIBYTE:,.1f} MiB"),
        *((f"traces of {name}", str(count)) for name, count in memory.traces.items()),
    ]


def _steps_per_iteration(config: Config) -> int:
    return config.num_agents * config.hyperparameters.horizon
