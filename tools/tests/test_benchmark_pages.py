"""The pages of benchmarks and the table of presets show what the files of results say."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
from zoo import BENCHMARKS, zoo_markdown

from devlib.project import ROOT
from rlgraph.algorithms.presets import presets_of
from rlgraph.core import registry
from rlgraph.runs.benchmarks.published import published
from rlgraph.runs.benchmarks.report import pictures_of
from rlgraph.runs.benchmarks.results import State, read_result, result_file
from rlgraph.runs.benchmarks.suite import Subject, read_suite, suite_names
from rlgraph.runs.benchmarks.tables import suite_markdown

FILES = sorted(BENCHMARKS.glob("*/**/*.json"))


def cells(text: str, first: str) -> list[str]:
    """Those of the first line of a table that begins with a text."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("name", suite_names())
def test_a_page_shows_the_results(name: str) -> None:
    """After new results: `rlgraph benchmark SUITE --report --folder docs/benchmarks`."""
    suite, page = read_suite(name), BENCHMARKS / f"{name}.md"
    state = State(suite, BENCHMARKS)
    if not any(state.results.values()):
        assert not page.exists()
        return
    assert page.read_text(encoding="utf-8") == suite_markdown(suite, state, pictures_of(suite, BENCHMARKS))


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(BENCHMARKS)) for file in FILES])
def test_a_result_can_be_repeated(file: Path) -> None:
    """It is of a commit, and lies where its subject says."""
    result = read_result(file)
    assert result is not None and result.git is not None and not result.git["dirty"]
    subject = Subject(result.name, result.document, result.backend, result.compiled)
    assert result_file(BENCHMARKS, subject, result.seed) == file


@pytest.mark.parametrize(
    ("source", "folder"), [("sb3_here", "stable_baselines3"), ("zoo_here", "baselines_zoo")]
)
def test_what_others_reached_here_is_that_of_its_files(source: str, folder: str) -> None:
    given = {
        f"{agent}_{environment}": (score.mean, score.std, score.steps)
        for environment, agents in published().scores.items()
        for agent, scores in agents.items()
        for score in scores
        if score.source == source
    }
    measured = {}
    for file in (ROOT / "docs/results" / folder).glob("*.json"):
        runs = json.loads(file.read_text())["runs"]
        means, deviation = [run["mean"] for run in runs], runs[0]["std"]
        if len(means) > 1:
            deviation = statistics.stdev(means)
        (steps,) = {run["steps"] for run in runs}
        measured[file.stem] = (round(statistics.fmean(means), 1), round(deviation, 1), steps)
    assert given == measured


def test_the_table_of_presets() -> None:
    text = zoo_markdown()
    presets = [preset for agent in registry("rlgraph.agents").names() for preset in presets_of(agent)]
    assert sum(line.startswith("| `") for line in text.splitlines()) == len(presets)
    for preset in presets:
        means: dict[str, list[float]] = {}
        for file in (BENCHMARKS / preset.name).glob("*.json"):
            given = json.loads(file.read_text())
            if given["document"] == preset.document:
                means.setdefault(given["backend"], []).append(given["last"]["mean"])
        seeds, shown, by = cells(text, f"`{preset.name}`")[3:6]
        assert bool(seeds) == bool(means)
        if means:
            backend = {"PyTorch": "torch", "TensorFlow": "tf"}[by.partition(" ")[0]]
            found = sorted(means[backend])
            assert len(found) == int(seeds) == max(map(len, means.values()))
            cut = len(found) // 4
            middle = found[cut : len(found) - cut]
            assert float(shown) == pytest.approx(statistics.fmean(middle), abs=0.0501)  # rounded
