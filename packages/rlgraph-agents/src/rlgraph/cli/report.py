"""What a finished run shows."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from rlgraph.runs.training import RunSummary


def print_summary(console: Console, summary: RunSummary, next_steps: list[str]) -> None:
    """Print the closing table of a run: result, speed, files, what to run next."""
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
    table.add_row("speed", f"{training.steps_per_second:,.0f} steps/s ({training.seconds:.1f} s)")
    folder = summary.folder
    for name, what in (
        ("curve.png", "learning curve"),
        ("graph.svg", "component graph (also graph.png)"),
        ("metrics.csv", "metrics"),
        ("tensorboard", "TensorBoard events"),
        ("checkpoints", "best and last checkpoint (safetensors + JSON)"),
        ("config.json", "resolved configuration"),
    ):
        table.add_row(what, str(folder / name))
    for position, command in enumerate(next_steps):
        table.add_row("next" if position == 0 else "", command)
    console.print(table)
