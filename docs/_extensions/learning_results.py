"""The directive ``{rlgraph-results} NAME``: what each seed reached, and the document of the runs.

A name such as ``ppo/CartPole-v1`` is a preset's, whose results are in ``docs/benchmarks``. Other names are those of
files in ``docs/agents/results``, which `tools/benchmarks/learning.py` wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from zoo import BENCHMARKS

from rlgraph.agents.presets import preset
from rlgraph.runs.aggregate import interquartile_mean
from rlgraph.runs.benchmarks.results import read_all, same_document
from rlgraph.runs.benchmarks.tables import rows_of

RESULTS = BENCHMARKS.parent / "agents" / "results"
#: Backend, or the peer -> its title, and the package that computes.
TITLES = {
    "torch": ("PyTorch", "torch"),
    "tf": ("TensorFlow", "tensorflow"),
    "sb3": ("Stable-Baselines3", "stable-baselines3"),
}


def preset_markdown(name: str, folder: Path = BENCHMARKS) -> str:
    """The table of a preset, of the results of suites."""
    document = preset(name).document
    results = [r for r in read_all(folder) if r.name == name and same_document(r.document, document)]
    rows = {
        row.title: {seed: result.last.mean for seed, result in row.results.items() if result.last is not None}
        for row in rows_of(results)
    }
    return _markdown(document, "last policy", rows)


def results_markdown(results: Mapping[str, Any]) -> str:
    """The table of a file of results."""
    document, evaluation = results["document"], results["document"]["evaluation"]
    is_last = evaluation.get("interval") is None or evaluation.get("policy") == "last"
    rows = {
        _title(subject, measured): {run["seed"]: run["mean"] for run in measured["runs"]}
        for subject, measured in sorted(results["measurements"].items(), reverse=True)  # torch, then tf
    }
    return _markdown(document, "last policy" if is_last else "best policy of the evaluations", rows)


def _markdown(document: Mapping[str, Any], policy: str, rows: Mapping[str, Mapping[int, float]]) -> str:
    seeds = sorted({seed for means in rows.values() for seed in means})
    episodes = document["evaluation"]["final_episodes"]
    lines = [
        f"{document['steps']:,} steps, {_environments(document)}, one thread: the mean return of the {policy}, acting "
        f"greedily, over {episodes} new episodes. *IQM* is the interquartile mean.",
        "",
        f"| seed | {' | '.join(map(str, seeds))} | mean | IQM |",
        f"|{' --- |' * (len(seeds) + 3)}",
        *(f"| {title} | {' | '.join(_cells(seeds, means))} |" for title, means in rows.items()),
    ]
    shown = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=84)
    return "\n".join([*lines, "", "The document of the runs:", "", "```yaml", shown.rstrip(), "```", ""])


def _cells(seeds: Iterable[int], means: Mapping[int, float]) -> list[str]:
    values = list(means.values())
    each = [f"{means[seed]:.1f}" if seed in means else "" for seed in seeds]
    return [*each, f"{np.mean(values):.1f}", f"{interquartile_mean(np.array(values)):.1f}"]


def _environments(document: Mapping[str, Any]) -> str:
    num_envs, executor = document.get("worker", {}).get("num_envs", 1), document.get("executor_spec")
    environments = "1 environment" if num_envs == 1 else f"{num_envs} environments"
    return f"{executor['actors']} actors with {environments} each" if executor else environments


def _title(subject: str, measured: Mapping[str, Any]) -> str:
    title, package = TITLES[subject.partition(" ")[0]]
    group = f", {measured['learners']} learners on {measured['collective']}" if "learners" in measured else ""
    return f"{title} {measured['versions'][package]}{', compiled' if measured['compiled'] else ''}{group}"


class ResultsDirective(SphinxDirective):
    """The table of a preset or a file of results, and the document of its runs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        files = sorted((BENCHMARKS / name).glob("*.json")) if "/" in name else [RESULTS / f"{name}.json"]
        for file in files:
            if not file.exists():
                raise self.error(f"expected a preset or the name of a file in {RESULTS.name}, given {name!r}")
            self.env.note_dependency(str(file))
        if "/" in name:
            return self.parse_text_to_nodes(preset_markdown(name))
        return self.parse_text_to_nodes(results_markdown(json.loads(files[0].read_text(encoding="utf-8"))))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-results", ResultsDirective)
    return {"version": "1", "parallel_read_safe": True}
