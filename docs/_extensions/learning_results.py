"""The directive ``{rlgraph-results} ppo_cartpole_v1``: what the seeds of a file in ``docs/agents/results`` reached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "agents" / "results"
#: Backend, or the peer -> its title, and the package that computes.
TITLES = {
    "torch": ("PyTorch", "torch"),
    "tf": ("TensorFlow", "tensorflow"),
    "sb3": ("Stable-Baselines3", "stable-baselines3"),
}


def results_markdown(results: Mapping[str, Any]) -> str:
    """The table of a file of results that `tools/benchmarks/learning.py` wrote, and the document of its runs."""
    document, measurements = results["document"], results["measurements"]
    from rlgraph.runs.aggregate import interquartile_mean

    evaluation = document["evaluation"]
    is_last = evaluation.get("interval") is None or evaluation.get("policy") == "last"
    policy = "last policy" if is_last else "best policy of the evaluations"
    seeds = sorted({run["seed"] for measured in measurements.values() for run in measured["runs"]})
    lines = [
        f"{document['steps']:,} steps, {_environments(document)}, one thread: the mean return of the {policy}, acting "
        f"greedily, over {evaluation['final_episodes']} new episodes. *IQM* is the interquartile mean.",
        "",
        f"| seed | {' | '.join(map(str, seeds))} | mean | IQM |",
        f"|{' --- |' * (len(seeds) + 3)}",
    ]
    for subject, measured in sorted(measurements.items(), reverse=True):  # torch, then tf
        means = {run["seed"]: run["mean"] for run in measured["runs"]}
        cells = [f"{means[seed]:.1f}" if seed in means else "" for seed in seeds]
        values = list(means.values())
        cells += [f"{np.mean(values):.1f}", f"{interquartile_mean(values):.1f}"]
        lines.append(f"| {_title(subject, measured)} | {' | '.join(cells)} |")
    shown = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=84)
    return "\n".join([*lines, "", "The document of the runs:", "", "```yaml", shown.rstrip(), "```", ""])


def _environments(document: Mapping[str, Any]) -> str:
    num_envs, executor = document.get("worker", {}).get("num_envs", 1), document.get("executor_spec")
    environments = "1 environment" if num_envs == 1 else f"{num_envs} environments"
    return f"{executor['actors']} actors with {environments} each" if executor else environments


def _title(subject: str, measured: Mapping[str, Any]) -> str:
    title, package = TITLES[subject.partition(" ")[0]]
    group = f", {measured['learners']} learners on {measured['collective']}" if "learners" in measured else ""
    return f"{title} {measured['versions'][package]}{', compiled' if measured['compiled'] else ''}{group}"


class ResultsDirective(SphinxDirective):
    """The table of a file of results, and the document of its runs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        file = RESULTS / f"{self.arguments[0]}.json"
        if not file.exists():
            raise self.error(f"expected the name of a file in {RESULTS.name}, given {self.arguments[0]!r}")
        self.env.note_dependency(str(file))
        return self.parse_text_to_nodes(results_markdown(json.loads(file.read_text(encoding="utf-8"))))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-results", ResultsDirective)
    return {"version": "1", "parallel_read_safe": True}
