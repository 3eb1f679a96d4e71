"""Plot of the learning curve of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from rlgraph.workers.evaluation import Evaluation

TRAINING, EVALUATION = "#4477aa", "#cc6677"


def draw_curve(
    history: Sequence[Mapping[str, float]], evaluations: Sequence[Evaluation], file: Path, title: str
) -> None:
    """Draw returns over environment steps: of training, and of evaluations with their spread.

    Args:
        history: reports in order, as `RunFolder` keeps them.
        evaluations: evaluations in order.
        file: the PNG to write.
        title: names agent, environment, backend and seed.
    """
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # needs no window system
    axes = figure.add_subplot()
    reports = [(row["timesteps"], row["mean_return"]) for row in history if "mean_return" in row]
    if reports:
        axes.plot(
            *zip(*reports, strict=True), color=TRAINING, label="training: mean of the last 100 episodes"
        )
    if evaluations:
        steps = [each.timesteps for each in evaluations]
        low, high = zip(*((min(each.returns), max(each.returns)) for each in evaluations), strict=True)
        means = [each.mean for each in evaluations]
        axes.plot(steps, means, "o-", markersize=4, color=EVALUATION, label="evaluation, greedy: mean")
        axes.fill_between(
            steps,
            low,
            high,
            color=EVALUATION,
            alpha=0.15,
            linewidth=0,
            label="evaluation: worst to best episode",
        )
    axes.set(xlabel="environment steps", ylabel="return", title=title)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(alpha=0.3)
    if reports or evaluations:
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)
