"""The results of learning that pages show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx")
from learning_results import RESULTS, results_markdown, suites_of_agents
from zoo import BENCHMARKS

from devlib.project import ROOT
from rlgraph.core import allow_imports, allow_network
from rlgraph.runs.benchmarks.results import State
from rlgraph.runs.benchmarks.tables import agent_markdown, title_of
from rlgraph.runs.configuration import check

FILES = sorted(RESULTS.glob("*.json"))
SUITES = suites_of_agents()
IDS = [file.stem for file in FILES]
PAGES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "agents").glob("*.md")]


def measured(compiled: bool, package: str, **means: float) -> dict[str, Any]:
    runs = [{"seed": int(seed.removeprefix("seed")), "mean": mean} for seed, mean in means.items()]
    return {"compiled": compiled, "versions": {package: "9.9"}, "runs": runs}


def test_a_table_has_every_seed_of_every_backend() -> None:
    document = {
        "agent": {"type": "ppo"},
        "environment": "CartPole-v1",
        "steps": 100_000,
        "worker": {"num_envs": 8},
        "evaluation": {"interval": None, "final_episodes": 100},
    }
    measurements = {
        "torch": measured(False, "torch", seed1=0.0, seed2=10.0, seed3=20.0, seed4=90.0),
        "tf": measured(True, "tensorflow", seed2=7.25),
    }
    text = results_markdown({"document": document, "measurements": measurements})
    assert "100,000 steps, 8 environments" in text
    assert "last policy, acting greedily, over 100 new episodes" in text
    assert [line for line in text.splitlines() if line.startswith("| ") and "---" not in line] == [
        "| seed | 1 | 2 | 3 | 4 | mean | IQM |",
        "| PyTorch 9.9 | 0.0 | 10.0 | 20.0 | 90.0 | 30.0 | 15.0 |",
        "| TensorFlow 9.9, compiled |  | 7.2 |  |  | 7.2 | 7.2 |",
    ]
    kept = {**document, "worker": {}, "evaluation": {"interval": 1000, "final_episodes": 20}}
    text = results_markdown({"document": kept, "measurements": measurements})
    assert "1 environment, one thread: the mean return of the best policy of the evaluations" in text
    text = results_markdown(
        {"document": {**document, "executor_spec": {"actors": 2}}, "measurements": measurements}
    )
    assert "100,000 steps, 2 actors with 8 environments each, one thread" in text
    group = {**measured(False, "torch", seed1=3.0), "learners": 2, "collective": "gloo"}
    text = results_markdown({"document": document, "measurements": {"torch gloo": group}})
    assert "| PyTorch 9.9, 2 learners on gloo | 3.0 | 3.0 | 3.0 |" in text


@pytest.mark.parametrize("agent", SUITES)
def test_the_page_of_an_agent_has_its_results_of_suites(agent: str) -> None:
    page = (ROOT / "docs" / "agents" / f"{agent}.md").read_text(encoding="utf-8")
    assert re.search(rf"^```{{rlgraph-results}} {agent}$", page, re.MULTILINE)
    assert not (RESULTS / f"{agent}.json").exists()  # the directive would never show it
    state = State(SUITES[agent], BENCHMARKS)
    text = agent_markdown(SUITES[agent], state)
    for number, (subject, _) in enumerate(SUITES[agent].subjects):
        for result in state.results[number].values():
            assert f"| {subject.name} | {title_of(result)} |" in text


def test_there_are_results() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_the_document_of_results_is_one_of_a_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that were renamed or removed make results impossible to repeat."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "benchmarks" / "learning")  # as of document.py
    results = json.loads(file.read_text(encoding="utf-8"))
    with allow_imports("badly_scaled"), allow_network():
        check(results["document"])
    assert results_markdown(results)
    for subject, measurement in results["measurements"].items():
        assert subject == "sb3" or not measurement["git"]["dirty"]


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_results_are_on_a_page(file: Path) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert re.search(rf"^```{{rlgraph-results}} {file.stem}$", pages, re.MULTILINE)
