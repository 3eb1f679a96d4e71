"""A live progress line of a training run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Self

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.worker_view import WorkerView


class _View(Progress):
    """The progress line, and lines of details below it."""

    details: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield from (Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in self.details)


#: Terminals of at least this width show a bar as well.
WIDE = 110


class LiveProgress(Callback):
    """Shows return, speed, the algorithm's `live_metrics` and the remaining time; prints a line per evaluation.

    Executors add lines about their actors.

    A resumed run counts from its own beginning. Inside ``with``, it also shows what happens before and after training:
    building and compiling, and the final evaluation.

    Args:
        console: the console; default: standard output.
    """

    def __init__(self, console: Console | None = None):
        self.console = Console(emoji=False) if console is None else console
        self._progress = _View(*_columns(self.console.width), console=self.console)
        self._status = self.console.status("building and compiling the agent")
        self._task: TaskID | None = None
        self._known: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        self._status.stop()

    def on_start(self, worker: WorkerView, timesteps: int) -> None:
        self._status.stop()
        done, self._known = worker.timesteps_of_run, {}
        self._task = self._progress.add_task("train", total=done + timesteps, completed=done, numbers="")
        if timesteps:
            self._progress.start()

    def on_report(self, worker: WorkerView, metrics: Mapping[str, float]) -> None:
        assert self._task is not None
        self._known |= metrics
        texts = {"mean_return": "return [cyan]{:.1f}[/]", "steps_per_second": "{:,.0f} steps/s"}
        for name in worker.agent.learner.graph.algorithm.live_metrics:
            texts[name] = f"{escape(name)} {{:.2g}}"
        # A number that is not known yet, such as the return before an episode ended, is left out.
        known = {name: text for name, text in texts.items() if isfinite(self._known.get(name, nan))}
        numbers = " ".join(text.format(self._known[name]) for name, text in known.items())
        self._progress.details = worker.details(metrics)
        self._progress.update(self._task, completed=worker.timesteps_of_run, numbers=numbers)

    def on_evaluation(self, worker: WorkerView, evaluation: Evaluation) -> None:
        self._progress.console.print(
            f"evaluation at step {evaluation.timesteps:,}: mean return {evaluation.mean:.1f} "
            f"over {len(evaluation.returns)} episodes"
        )

    def on_end(self, worker: WorkerView) -> None:
        self._progress.stop()
        self._status.update("writing the last checkpoint, evaluating the policy")
        self._status.start()


def _columns(width: int) -> list[ProgressColumn]:
    """Most important first, since long lines are cut at the end; usually they fit into 80 characters."""
    bar = [BarColumn(bar_width=24)] if width >= WIDE else []
    return [
        TextColumn("[bold]{task.completed:>7,.0f}[/] / {task.total:,.0f}"),
        TimeRemainingColumn(compact=True),
        *bar,
        TextColumn("{task.fields[numbers]}"),
    ]
