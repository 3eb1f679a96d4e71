"""The directive ``{rlgraph-results} NAME``: what each seed reached.

An agent's name shows its results of all shipped suites, from ``docs/benchmarks``. Other names are those of files in
``docs/agents/results``, which `tools/benchmarks/learning/document.py` wrote; they are shown with the document of their
runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from zoo import BENCHMARKS

from rlgraph.runs.aggregate import interquartile_mean
from rlgraph.runs.benchmarks.results import State
from rlgraph.runs.benchmarks.suite import Subject, Suite, read_suite, suite_names
from rlgraph.runs.benchmarks.tables import agent_markdown

RESULTS = BENCHMARKS.parent / "agents" / "results"
#: Backend, or the peer -> its title, and the package that computes.
TITLES = {
    "torch": ("PyTorch", "torch"),
    "tf": ("TensorFlow", "tensorflow"),
    "sb3": ("Stable-Baselines3", "stable-baselines3"),
}


def suites_of_agents() -> dict[str, Suite]:
    """Agent -> what the shipped suites measure of it."""
    subjects: dict[str, list[tuple[Subject, Sequence[int]]]] = {}
    for name in suite_names():
        for subject, seeds in read_suite(name).subjects:
            subjects.setdefault(subject.agent, []).append((subject, seeds))
    return {agent: Suite(agent, agent, "", pairs) for agent, pairs in subjects.items()}


def results_markdown(results: Mapping[str, Any]) -> str:
    """The table of a file of results."""
    document, evaluation = results["document"], results["document"]["evaluation"]
    is_last = evaluation.get("interval") is None or evaluation.get("policy") == "last"
    rows = {
        _title(subject, measured): {run["seed"]: run["mean"] for run in measured["runs"]}
        for subject, measured in sorted(results["measurements"].items(), reverse=True)  # torch, then tf
    }
    policy = "last policy" if is_last else "best policy of the evaluations"
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
    """The table of an agent, or of a file of results with the document of its runs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        suite, file = suites_of_agents().get(name), RESULTS / f"{name}.json"
        if suite is None and not file.exists():
            raise self.error(
                f"expected an agent of a suite or the name of a file in {RESULTS.name}, given {name!r}"
            )
        for used in BENCHMARKS.glob("*/**/*.json") if suite else [file]:
            self.env.note_dependency(str(used))
        if suite:
            return self.parse_text_to_nodes(agent_markdown(suite, State(suite, BENCHMARKS)))
        return self.parse_text_to_nodes(results_markdown(json.loads(file.read_text(encoding="utf-8"))))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-results", ResultsDirective)
    return {"version": "1", "parallel_read_safe": True}
