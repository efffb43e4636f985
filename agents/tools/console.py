"""What a person sees of a run: a progress bar on a terminal, plain lines elsewhere."""

from collections.abc import Mapping
from typing import Any, Self

import rich.console
import rich.progress


class Console:
    """Shows progress and the result of each phase."""

    def __init__(self, total_steps: int):
        """Prepare to show a number of environment steps."""
        self._console = rich.console.Console(highlight=False, soft_wrap=True)
        self._progress = rich.progress.Progress(
            rich.progress.TextColumn("{task.completed:,.0f} steps"),
            rich.progress.BarColumn(bar_width=20),
            rich.progress.TextColumn("{task.fields[rate]} steps/s"),
            rich.progress.TextColumn("score {task.fields[score]}"),
            rich.progress.TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._progress.add_task(
            "train", total=total_steps, rate="-", score="-"
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def advance(self, step: int, rate: float, score: float | None) -> None:
        """Move the bar to a step."""
        shown = "-" if score is None else f"{score:.1f}"
        self._progress.update(
            self._task, completed=step, rate=f"{rate:,.0f}", score=shown
        )

    def phase(self, phase: str, metrics: Mapping[str, Any], step: int) -> None:
        """Print what came of a phase."""
        score = metrics["mean_score"]
        result = "no episode ended"
        if score is not None:
            deviation = metrics["std_score"]
            result = f"score {score:.1f} +- {deviation:.1f} "
            result += f"over {metrics['episodes']} episodes"
        rate = metrics["steps_per_second"]
        self._console.print(
            f"{phase:5} step {step:>10,}  {result}  ({rate:,.0f} steps/s)"
        )
