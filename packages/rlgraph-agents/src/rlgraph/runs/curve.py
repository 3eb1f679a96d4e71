"""Plot of the learning curve of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draw_curve(history: Sequence[Mapping[str, float]], file: Path, environment: str, seed: int) -> None:
    """Draw returns over environment steps.

    Args:
        history: reports and evaluations in order, as `RunFolder` keeps them.
        file: the PNG to write.
        environment: named in the title.
        seed: named in the title.
    """
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # needs no window system
    axes = figure.add_subplot()
    for key, label, style in (
        ("mean_return", "training, mean of the last 100 episodes", {"color": "#4477aa", "linewidth": 1.5}),
        ("evaluation_return", "evaluation, greedy", {"color": "#cc6677", "marker": "o", "markersize": 4}),
    ):
        points = [(row["timesteps"], row[key]) for row in history if key in row]
        if points:
            axes.plot(*zip(*points, strict=True), label=label, **style)  # type: ignore[arg-type]
    axes.set(xlabel="environment steps", ylabel="return", title=f"{environment}, seed {seed}")
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(loc="best", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)
