"""The training loop: `Loop.run` is the whole of a run, on one screen."""

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from agents.parts import randomness
from agents.tools.checkpoints import Checkpoints
from agents.tools.console import Console
from agents.tools.evaluation import Evaluation
from agents.tools.faults import EnvironmentFault, NumericFault, StorageFault
from agents.tools.run_directory import RunDirectory
from agents.tools.statistics import EpisodeStatistics
from agents.tools.stop_signal import Stopped, StopSignal
from agents.tools.training_graph import TrainingGraph
from agents.tools.writers import MetricsFile, TensorBoard

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
    """

    def __init__(self, schedule: Schedule):
        """Stand at the beginning."""
        super().__init__()
        self.step = tf.Variable(0, dtype=tf.int64)
        self.next_evaluation = tf.Variable(schedule.eval_every, dtype=tf.int64)
        self.metrics_size = tf.Variable(0, dtype=tf.int64)
        self.wall_seconds = tf.Variable(0.0, dtype=tf.float64)
        self.begun = tf.Variable(False)


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
    ):
        """Prepare a run, from its beginning.

        Args:
            schedule: when to do what.
            graph: trains the algorithm.
            evaluation: of the algorithm, in environments of its own.
            algorithm: what checkpoints hold.
            console: shows how it goes.
            run: where to store metrics and checkpoints; None: nowhere.
        """
        self._schedule = schedule
        self._graph = graph
        self._evaluation = evaluation
        self._console = console
        self._progress = Progress(schedule)
        self._iteration_seconds = 0.0
        self._clock = time.monotonic()
        self._stop = StopSignal(abort=self._abort)
        self._run = run
        self._metrics_file = MetricsFile(run.metrics) if run else None
        self._tensor_board = TensorBoard(run.path) if run else None
        self._checkpoints = run and Checkpoints(
            run.checkpoints,
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
        self._checkpoints.restore()
        lines = self._metrics_file.cut(int(self._progress.metrics_size))
        self._tensor_board.rewrite(lines)

    def run(self) -> None:
        """Train and evaluate until all steps are done.

        Raises:
            Stopped: By a signal.
            EnvironmentFault: An environment failed.
            NumericFault: The algorithm failed.
        """
        with self._console, self._stop:
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
        statistics, losses = EpisodeStatistics(), []
        first_step, began = self.step, time.monotonic()
        boundary = self._next_boundary()
        if self._graph.kept:
            carry = self._graph.kept.read()
        else:
            carry = self._graph.start(self._seed(_ENVIRONMENTS))
        while self.step < boundary:
            self._check_stop(boundary)
            clock = time.monotonic()
            steps = self._steps_of_iterations(boundary)
            carry, episodes, metrics = self._graph.iterate(
                carry,
                seeds=[self._seed(_UPDATES, step) for step in steps],
                progress=[step / self._schedule.steps for step in steps],
                last=not self._graph.kept and steps.stop >= boundary,
            )
            losses.append(metrics)
            self._check_finite(metrics, steps)
            self._progress.step.assign(steps.stop)
            statistics.add(episodes)
            self._iteration_seconds = (time.monotonic() - clock) / len(steps)
            self._show_progress(statistics)
        if self._graph.kept:
            self._graph.kept.assign(carry)
        rate = (self.step - first_step) / (time.monotonic() - began)
        means = {
            name: float(np.mean([x for metrics in losses for x in metrics[name]]))
            for name in losses[0]
        }
        self._log("train", statistics, rate, means)

    def _evaluate(self) -> None:
        """Play whole episodes with the policy's mode, in environments of their own."""
        began = time.monotonic()
        statistics = self._evaluation.run(self._seed(_EVALUATION), self._check_stop)
        rate = sum(statistics.lengths) / (time.monotonic() - began)
        self._log("eval", statistics, rate, {})
        every = self._schedule.eval_every
        self._progress.next_evaluation.assign((self.step // every + 1) * every)

    def _save(self) -> None:
        self._count_wall_seconds()
        if self._run:
            with self._storing():
                self._progress.metrics_size.assign(self._metrics_file.size())
                self._checkpoints.save(self.step)

    @contextlib.contextmanager
    def _storing(self) -> Iterator[None]:
        """Name the run directory where it is full, gone or not writable."""
        try:
            if not self._run.path.exists():
                raise FileNotFoundError("it was removed while the run was under way")
            yield
        except (OSError, tf.errors.OpError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise StorageFault(
                f"Could not write to {self._run.path}: {reason}. Mend that, and resume "
                "the run from its last checkpoint, if it has one."
            ) from error

    def _next_boundary(self) -> int:
        """Return the step at which the last iteration before the boundary ends."""
        interval, size = (
            self._schedule.checkpoint_steps,
            self._graph.steps_per_iteration,
        )
        goal = min(self._schedule.steps, (self.step // interval + 1) * interval)
        return self.step + math.ceil((goal - self.step) / size) * size

    def _evaluation_is_due(self) -> bool:
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

    def _check_finite(self, metrics: dict[str, np.ndarray], steps: range) -> None:
        for name, values in metrics.items():
            for step, value in zip(steps, values, strict=True):
                if not math.isfinite(value):
                    raise NumericFault(
                        f"{name} became {value} in the update after step {step:,}. "
                        "The last checkpoint is from before; a smaller learning_rate "
                        "or max_gradient_norm may help."
                    )

    def _check_stop(self, boundary: int | None = None) -> None:
        """Stop if asked to, unless a boundary to be reached is near enough."""
        if self._stop.requested is None:
            return
        if boundary is not None:
            iterations = (boundary - self.step) / self._graph.steps_per_iteration
            if iterations * self._iteration_seconds < self._stop.seconds_left:
                return
        raise self._stopped()

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
        self,
        phase: str,
        statistics: EpisodeStatistics,
        rate: float,
        losses: dict[str, float],
    ) -> None:
        metrics: dict[str, Any] = statistics.summary()
        metrics["steps_per_second"] = rate
        metrics["wall_seconds"] = self._count_wall_seconds()
        metrics |= losses
        if self._run:
            with self._storing():
                self._metrics_file.write(phase, metrics, self.step)
                self._tensor_board.write(phase, metrics, self.step)
        self._console.phase(phase, metrics, self.step)

    def _count_wall_seconds(self) -> float:
        now = time.monotonic()
        self._progress.wall_seconds.assign_add(now - self._clock)
        self._clock = now
        return float(self._progress.wall_seconds)
