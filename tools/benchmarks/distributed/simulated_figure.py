"""The figure of what `simulated.py` wrote: steps per second by the number of actors."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, StrMethodFormatter

FLOWS = {
    "impala": ("IMPALA", "C0"),
    "sync_batch": ("synchronous batches (PPO)", "C1"),
    "apex": ("Ape-X", "C2"),
}
#: Espeholt et al. (2018), abstract as https://research.google/pubs/pub48558/ has it: thousands of machines.
IMPALA_PAPER = 250_000
#: Schaarschmidt et al. (2019), section 5.1: Ape-X on Pong with 256 workers, 170,000 frames per second, and 130,000 for
#: RLlib; four frames are a step.
APEX_PAPER = {"RLgraph's paper": 170_000 / 4, "RLlib, as it says": 130_000 / 4}


def figure(results: dict[str, dict]) -> Figure:
    """Lines of simulated runs, and points of measured ones beside them."""
    drawing = Figure((8.0, 5.4), layout="constrained")
    FigureCanvasSVG(drawing)
    axes = drawing.add_subplot()
    for flow, (label, color) in FLOWS.items():
        if flow not in results:
            continue
        rows, compared = results[flow].get("simulated", []), results[flow]["compared"]
        if rows:
            axes.plot(
                [row["actors"] for row in rows],
                [row["steps_per_second"] for row in rows],
                color=color,
                label=f"{label}: simulated, a core for each actor",
            )
        cores = results[flow]["cores"]
        axes.plot(
            [row["actors"] for row in compared],
            [row["simulated"] for row in compared],
            "--",
            color=color,
            label=f"{label}: simulated, {cores:.1f} cores for all",
        )
        measured = [(row["actors"], rate) for row in compared for rate in row["measured"]]
        axes.plot(
            *zip(*measured, strict=True), "o", color=color, mfc="none", label=f"{label}: measured on 2 CPUs"
        )
    axes.axhline(IMPALA_PAPER, color="gray", linestyle=":")
    axes.annotate(
        "IMPALA's paper, frames per second: DeepMind Lab, thousands of machines",
        (1, IMPALA_PAPER),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize="small",
        color="gray",
    )
    for (name, rate), marker in zip(APEX_PAPER.items(), "*x", strict=True):
        axes.plot(256, rate, marker, color="gray", label=f"{name}: Ape-X on Pong, 256 workers and a V100")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel("actors, each with 8 environments (CartPole-v1)")
    axes.set_ylabel("environment steps per second")
    axes.grid(alpha=0.3)
    drawing.legend(fontsize="x-small", loc="outside lower center", ncols=2)
    return drawing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    with matplotlib.rc_context({"svg.hashsalt": "rlgraph"}):
        drawn = figure(json.loads(options.results.read_text(encoding="utf-8")))
        drawn.savefig(options.picture, metadata={"Date": None})
