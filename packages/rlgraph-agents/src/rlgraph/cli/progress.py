"""A live line about a training run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker


class LiveProgress(Callback):
    """Shows return, speed, loss, epsilon and the time left; prints a line per evaluation.

    Inside ``with``, it also shows what takes its time before and after the training: building and compiling, and the
    closing evaluation.

    Args:
        console: where to.
    """

    def __init__(self, console: Console):
        self.console = console
        self._progress = Progress(
            TextColumn("[bold]{task.completed:>7,.0f}[/] / {task.total:,.0f}"),
            BarColumn(bar_width=24),
            TextColumn("return [cyan]{task.fields[mean_return]:>6.1f}[/]"),
            TextColumn("{task.fields[steps_per_second]:>6,.0f} steps/s"),
            TextColumn("loss {task.fields[loss]:.3g}"),
            TextColumn("epsilon {task.fields[epsilon]:.2f}"),
            TimeRemainingColumn(),
            console=console,
        )
        self._status = console.status("building and compiling the agent")
        self._task: TaskID | None = None
        self._first = 0

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        self._status.stop()

    def on_start(self, worker: SingleThreadedWorker, timesteps: int) -> None:
        self._status.stop()
        nothing = float("nan")
        self._first = worker.timesteps
        self._task = self._progress.add_task(
            "train",
            total=timesteps,
            mean_return=nothing,
            steps_per_second=nothing,
            loss=nothing,
            epsilon=nothing,
        )
        self._progress.start()

    def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, float]) -> None:
        assert self._task is not None
        shown = ("mean_return", "steps_per_second", "loss", "epsilon")
        fields = {name: metrics[name] for name in shown if name in metrics}
        self._progress.update(self._task, completed=worker.timesteps - self._first, **fields)  # type: ignore[arg-type]

    def on_evaluation(self, worker: SingleThreadedWorker, evaluation: Evaluation) -> None:
        self._progress.console.print(
            f"evaluation at step {evaluation.timesteps:,}: mean return {evaluation.mean:.1f} "
            f"over {len(evaluation.returns)} episodes"
        )

    def on_end(self, worker: SingleThreadedWorker) -> None:
        self._progress.stop()
        self._status.update("writing the last checkpoint, evaluating the best policy")
        self._status.start()
