"""Plot of a comparison: one panel per environment, one line with a band per group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from rlgraph.runs.compare import AXES, Comparison, Group

#: Paul Tol's "muted" scheme, which is safe for colour-blind readers. https://sronpersonalpages.nl/~pault/
COLOURS = (
    "#332288",
    "#cc6677",
    "#117733",
    "#ddcc77",
    "#88ccee",
    "#882255",
    "#44aa99",
    "#999933",
    "#aa4499",
)
LINES = ("-", "--", ":")
COLUMNS = 3


def draw_comparison(comparison: Comparison, file: Path, each_run: bool = False) -> None:
    """Draw the interquartile mean of every group with its 95 % band over environment steps.

    Args:
        comparison: result of `rlgraph.runs.compare`.
        file: the PNG, SVG or PDF to write.
        each_run: draw a thin line for each run, too.
    """
    panels: dict[str, list[Group]] = {}
    for group in comparison.groups:
        panels.setdefault(group.key.get("environment", ""), []).append(group)
    labels = _labels(comparison.groups)
    styles = styles_of(list(dict.fromkeys(labels.values())))
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(max(7.0, 4.6 * columns), 4.3 * rows), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # needs no window system
    grid = figure.subplots(rows, columns, squeeze=False).flat
    for (environment, groups), axes in zip(panels.items(), grid, strict=False):
        for group in groups:
            label = labels[group.name]
            _draw(axes, group, label, styles[label])
            for run in group.runs if each_run else ():
                axes.plot(*run.metrics[comparison.metric], **styles[label], linewidth=0.5, alpha=0.5)
        axes.set(xlabel="environment steps", title=environment)
        axes.set_ylabel(AXES.get(comparison.metric, comparison.metric))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=4.0,  # below the axis's label, since a band may fill the panel
            ncols=1 if len(groups) <= 6 else 2,
            frameon=False,
            fontsize="small",
            title="interquartile mean, 95 % band",
            title_fontsize="small",
        )
    for axes in list(grid):
        axes.set_visible(False)
    figure.savefig(file)


def styles_of(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Label -> a colour and a kind of line; ``dqn, torch`` and ``dqn, tf`` have the same colour, if possible."""
    parts = [label.partition(", ")[::2] for label in labels]
    firsts, rests = (list(dict.fromkeys(each)) for each in zip(*parts, strict=True))
    if 1 < len(firsts) <= len(COLOURS) and len(rests) <= len(LINES):
        places = [(firsts.index(first), rests.index(rest)) for first, rest in parts]
    else:
        places = [(i % len(COLOURS), i // len(COLOURS) % len(LINES)) for i in range(len(labels))]
    return {
        label: {"color": COLOURS[i], "linestyle": LINES[j]}
        for label, (i, j) in zip(labels, places, strict=True)
    }


def _draw(axes: Axes, group: Group, label: str, style: Mapping[str, Any]) -> None:
    number = len(group.runs)
    text = f"{label} ({number} {'run' if number == 1 else 'runs'})"
    marker = "o" if len(group.steps) == 1 else None
    axes.plot(group.steps, group.curve, **style, label=text, marker=marker, linewidth=1.5)
    axes.fill_between(group.steps, group.low, group.high, color=style["color"], alpha=0.18, linewidth=0)


def _labels(groups: Sequence[Group]) -> dict[str, str]:
    """Name of a group -> its label inside a panel, with agent and backend where these differ between groups."""
    labels = {}
    for group in groups:
        parts = [value for field, value in group.key.items() if field != "environment" and value]
        for field in ("agent", "backend"):
            values = {getattr(run, field) for run in group.runs}
            everywhere = {getattr(run, field) for other in groups for run in other.runs}
            if (
                len(everywhere) > 1
                and len(values) == 1
                and not values & {*re.split("[=, ]+", " ".join(parts))}
            ):
                parts += values
        labels[group.name] = ", ".join(parts) or "all runs"
    return labels
