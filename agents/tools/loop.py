"""The training loop: `Loop.run` is the whole of a run, on one screen."""

import contextlib
import dataclasses
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts import randomness
from agents.parts.variables import named_variables
from agents.tools import finiteness
from agents.tools.checkpoints import KEEP
from agents.tools.console import Console
from agents.tools.evaluation import Evaluation
from agents.tools.faults import EnvironmentFault
from agents.tools.run_directory import RunDirectory
from agents.tools.simulation import Carry
from agents.tools.statistics import EpisodeStatistics, TrainingStatistics
from agents.tools.stop_signal import Stopped, StopSignal
from agents.tools.storage import Storage
from agents.tools.training_graph import TrainingGraph
from agents.tools.writers import Writer, default_writers

# What draws of different kinds follow from, together with the run's seed and step.
_ENVIRONMENTS, _UPDATES, _EVALUATION, _WARM_UP = range(4)
_RECENT_EPISODES = 20
# What one call is to take: signals are heard between calls.
CALL_SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class Schedule:
    """When a run does what, all in environment steps.

    Attributes:
        steps: to train.
        eval_every: steps between evaluations.
        checkpoint_steps: steps between boundaries: a checkpoint is written there, and
            episodes that it can't hold start anew, so that a resumed run is one that
            never stopped.
        seed: of the run.
    """

    steps: int
    eval_every: int
    checkpoint_steps: int
    seed: int


class Progress(tf.Module):
    """Where a run stands, in variables that a checkpoint holds.

    Attributes:
        step: environment steps trained.
        next_evaluation: step from which on the next evaluation is due.
        metrics_size: bytes of the metrics file.
        wall_seconds: time spent so far, over all sessions.
        begun: whether the algorithm was warmed up.
        interval: `TrainingStatistics` since the last boundary; empty at a boundary.
    """

    def __init__(self, schedule: Schedule):
        """Stand at the beginning."""
        super().__init__()
        self.step = tf.Variable(0, dtype=tf.int64)
        self.next_evaluation = tf.Variable(schedule.eval_every, dtype=tf.int64)
        self.metrics_size = tf.Variable(0, dtype=tf.int64)
        self.wall_seconds = tf.Variable(0.0, dtype=tf.float64)
        self.begun = tf.Variable(False)
        self.interval = tf.Variable(b"")


class Loop:
    """Alternates training and evaluation until the steps are done."""

    def __init__(
        self,
        schedule: Schedule,
        graph: TrainingGraph,
        evaluation: Evaluation,
        algorithm: tf.Module,
        console: Console,
        run: RunDirectory | None = None,
        writers: Sequence[Writer] | None = None,
        keep_checkpoints: int = KEEP,
    ):
        """Prepare a run, from its beginning.

        Args:
            schedule: when to do what.
            graph: trains the algorithm.
            evaluation: of the algorithm, in environments of its own.
            algorithm: what checkpoints hold.
            console: shows how it goes.
            run: where to store metrics and checkpoints; None: nowhere.
            writers: of what came of each phase, there; None: those of this package.
            keep_checkpoints: how many of the newest stay, beside the best.
        """
        self._schedule = schedule
        self._graph = graph
        self._evaluation = evaluation
        self._console = console
        self._progress = Progress(schedule)
        self._weights = {
            name: variable
            for name, variable in named_variables(algorithm=algorithm).items()
            if variable.trainable
        }
        self._iteration_seconds = 0.0
        self._clock = time.monotonic()
        self._stop = StopSignal(abort=self._abort)
        self._storage = run and Storage(
            run,
            keep_checkpoints,
            self._progress.metrics_size,
            writers if writers is not None else default_writers(),
            algorithm=algorithm,
            progress=self._progress,
            environments=graph.kept or tf.Module(),
        )

    @property
    def step(self) -> int:
        """Environment steps trained so far."""
        return int(self._progress.step)

    def resume(self) -> None:
        """Go back to the newest checkpoint; what was logged after it is dropped.

        Raises:
            CheckpointError: There is none, or none that fits.
        """
        self._storage.resume()

    def run(self) -> None:
        """Train and evaluate until all steps are done.

        Raises:
            Stopped: By a signal.
            EnvironmentFault: An environment failed.
            NumericFault: The algorithm failed.
            StorageFault: The run directory can't be written to.
        """
        with self._console, self._stop, self._storage or contextlib.nullcontext():
            try:
                if not bool(self._progress.begun):
                    self._begin()
                while True:
                    self._check_stop()
                    if self._evaluation_is_due():
                        self._evaluate()
                    if self.step >= self._schedule.steps:
                        return
                    self._train_to_boundary()
                    self._save()
            except (EnvironmentFault, InterruptedError):
                # The way in which a long step ends that was broken off.
                if self._stop.seconds_left <= 0:
                    raise self._stopped() from None
                raise

    def _begin(self) -> None:
        self._graph.warm_up(self._seed(_WARM_UP))
        if self._graph.kept:
            self._graph.kept.assign(self._graph.start(self._seed(_ENVIRONMENTS)))
        self._progress.begun.assign(True)
        self._save()

    def _train_to_boundary(self) -> None:
        """Train until the next checkpoint is due, in fresh episodes if need be."""
        statistics = TrainingStatistics(self._progress.interval.numpy())
        self._progress.interval.assign(b"")
        first_step, began = self.step, time.monotonic()
        boundary = self._next_boundary()
        if self._graph.kept:
            carry = self._graph.kept.read()
        else:
            carry = self._graph.start(self._seed(_ENVIRONMENTS))
        while self.step < boundary:
            if self._must_stop(boundary):
                self._save_between_boundaries(carry, statistics)
                raise self._stopped()
            clock = time.monotonic()
            steps = self._steps_of_iterations(boundary)
            carry, episodes, metrics = self._graph.iterate(
                carry,
                seeds=[self._seed(_UPDATES, step) for step in steps],
                progress=[step / self._schedule.steps for step in steps],
                last=not self._graph.kept and steps.stop >= boundary,
            )
            finiteness.check_metrics(metrics, steps)
            statistics.add(episodes, metrics)
            self._progress.step.assign(steps.stop)
            self._iteration_seconds = (time.monotonic() - clock) / len(steps)
            self._show_progress(statistics.episodes)
        if self._graph.kept:
            self._graph.kept.assign(carry)
        rate = (self.step - first_step) / (time.monotonic() - began)
        self._log("train", statistics.summary(), rate, self._graph.restarts)

    def _evaluate(self) -> None:
        """Play whole episodes with the policy's mode, in environments of their own."""
        began = time.monotonic()
        statistics = self._evaluation.run(self._seed(_EVALUATION), self._check_stop)
        rate = sum(statistics.lengths) / (time.monotonic() - began)
        self._log("eval", statistics.summary(), rate, self._evaluation.restarts)
        every = self._schedule.eval_every
        self._progress.next_evaluation.assign((self.step // every + 1) * every)

    def _save(self) -> None:
        finiteness.check_weights(self._weights, self.step)
        self._count_wall_seconds()
        if self._storage:
            self._storage.save(self.step)

    def _save_between_boundaries(
        self, carry: Carry, statistics: TrainingStatistics
    ) -> None:
        """Save in mid-episode, if all that the environments are can be saved."""
        if self._graph.kept and statistics.begun:
            self._graph.kept.assign(carry)
            self._progress.interval.assign(statistics.to_text())
            self._save()

    def _next_boundary(self) -> int:
        """Return the step at which the last iteration before the boundary ends."""
        interval, size = (
            self._schedule.checkpoint_steps,
            self._graph.steps_per_iteration,
        )
        goal = min(self._schedule.steps, (self.step // interval + 1) * interval)
        return self.step + math.ceil((goal - self.step) / size) * size

    def _evaluation_is_due(self) -> bool:
        if self._progress.interval.numpy():
            return False
        done = self.step >= self._schedule.steps
        return done or self.step >= int(self._progress.next_evaluation)

    def _steps_of_iterations(self, boundary: int) -> range:
        """Return the steps at which the iterations of the next call begin."""
        size = self._graph.steps_per_iteration
        count = 1
        if self._iteration_seconds > 0:
            count = max(1, int(CALL_SECONDS / self._iteration_seconds))
        left = (boundary - self.step) // size
        count = min(count, left, self._graph.most_iterations)
        return range(self.step, self.step + count * size, size)

    def _seed(self, purpose: int, step: int | None = None) -> list[int]:
        """Return a seed for a purpose at a step, by default the present one."""
        step = self.step if step is None else step
        return randomness.integers([self._schedule.seed, purpose, step], 2)

    def _check_stop(self) -> None:
        if self._stop.requested is not None:
            raise self._stopped()

    def _must_stop(self, boundary: int) -> bool:
        """Whether a stop was asked for, and the boundary is too far to be reached."""
        if self._stop.requested is None:
            return False
        iterations = (boundary - self.step) / self._graph.steps_per_iteration
        return iterations * self._iteration_seconds >= self._stop.seconds_left

    def _stopped(self) -> Stopped:
        return Stopped(self._stop.requested, f"Stopped at step {self.step:,}.")

    def _abort(self) -> None:
        self._graph.abort()
        self._evaluation.abort()

    def _show_progress(self, statistics: EpisodeStatistics) -> None:
        rate = self._graph.steps_per_iteration / self._iteration_seconds
        recent = statistics.scores[-_RECENT_EPISODES:]
        self._console.advance(self.step, rate, np.mean(recent) if recent else None)

    def _log(
        self, phase: str, metrics: dict[str, Any], rate: float, restarts: int | None
    ) -> None:
        if restarts is not None:
            metrics["worker_restarts"] = restarts
        metrics["steps_per_second"] = rate
        metrics["wall_seconds"] = self._count_wall_seconds()
        if self._storage:
            self._storage.log(phase, metrics, self.step)
        self._console.phase(phase, metrics, self.step)

    def _count_wall_seconds(self) -> float:
        now = time.monotonic()
        self._progress.wall_seconds.assign_add(now - self._clock)
        self._clock = now
        return float(self._progress.wall_seconds)
