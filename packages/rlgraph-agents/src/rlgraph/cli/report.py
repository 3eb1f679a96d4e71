"""The report of a finished run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlgraph.cli.output import printable
from rlgraph.runs.training import RunSummary

#: File of a run folder -> description; missing files are not listed.
CONTENT = (
    ("curve.png", "learning curve"),
    ("graph.svg", "component graph (also graph.png)"),
    ("metrics.csv", "metrics"),
    ("tensorboard", "TensorBoard events"),
    ("checkpoints", "best and last checkpoint (safetensors + JSON)"),
    ("actors", "logs of actors that failed"),
    ("config.json", "resolved configuration"),
)


def summary_report(summary: RunSummary, folder: Path, next_steps: list[str]) -> Group:
    """Print the result and speed of a run, its files, and commands to run next.

    Args:
        summary: the outcome.
        folder: the run folder as the user wrote it.
        next_steps: the commands.
    """
    lines: list[Text | Padding] = []
    if summary.departures:
        lines.append(Text("A run in one go, with the same document and seed, would give other results:"))
        lines += [_indented(Text(printable(departure))) for departure in summary.departures]
    if summary.earlier_run is not None:
        lines.append(Text(f"The earlier run in {folder} was moved to {_earlier_run(summary, folder)}."))
    lines.append(Text(f"In {folder}:"))
    width = max(len(name) for name, _ in CONTENT)
    lines += [Text(f"  {name:{width}}  {what}") for name, what in CONTENT if (summary.folder / name).exists()]
    if next_steps:
        lines += [Text("Next:"), *(Text(f"  {command}") for command in next_steps)]
    return Group(_table(summary), *lines)


def _indented(text: Text) -> Padding:
    """The text with all its lines indented, those that a narrow terminal breaks too."""
    return Padding(text, (0, 0, 0, 2), expand=False)


def _table(summary: RunSummary) -> Table:
    training, final = summary.training, summary.evaluation
    table = Table(
        show_header=False, title="Interrupted" if training.interrupted else "Done", title_justify="left"
    )
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    if final is not None:
        table.add_row(
            "evaluation", f"{final.mean:.1f} +- {final.std:.1f} over {len(final.returns)} fresh episodes"
        )
    table.add_row(
        "training",
        f"{training.timesteps:,} steps, {training.episodes:,} episodes, {training.updates:,} updates",
    )
    number, what = (training.timesteps, "steps") if training.timesteps else (training.updates, "updates")
    table.add_row("speed", f"{number / (training.seconds or 1.0):,.0f} {what}/s ({training.seconds:.1f} s)")
    if training.hint:
        table.add_row("hint", escape(training.hint))
    return table


def _earlier_run(summary: RunSummary, folder: Path) -> Path | None:
    return summary.earlier_run and folder.parent / summary.earlier_run.name


def summary_data(summary: RunSummary, folder: Path) -> dict[str, Any]:
    """The report as JSON; the statistics have the names of `TrainingResult.statistics`."""
    training, final = summary.training, summary.evaluation
    evaluation = (
        None if final is None else {**asdict(final), "mean_return": final.mean, "std_return": final.std}
    )
    return {
        "folder": folder,
        "interrupted": training.interrupted,
        "departures": summary.departures,
        "hint": training.hint,
        "earlier_run": _earlier_run(summary, folder),
        "training": training.statistics,
        "updates": training.updates,
        "evaluation": evaluation,
    }
