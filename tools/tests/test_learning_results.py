"""The results of learning that pages show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx")
from learning_results import RESULTS, preset_markdown, results_markdown

from devlib.project import ROOT
from rlgraph.core import allow_imports
from rlgraph.runs.configuration import check

FILES = sorted(RESULTS.glob("*.json"))
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


def test_the_table_of_a_preset() -> None:
    text = preset_markdown("ppo/CartPole-v1")
    assert "100,000 steps, 8 environments, one thread: the mean return of the last policy" in text
    row = next(line for line in text.splitlines() if line.startswith("| PyTorch 2.13.0 |"))
    file = RESULTS.parents[1] / "benchmarks" / "ppo" / "CartPole-v1" / "torch-4.json"
    assert f"| {json.loads(file.read_text())['last']['mean']:.1f} |" in row
    assert "clip_grad_norm: 0.5" in text


def test_there_are_results() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_the_document_of_results_is_one_of_a_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that were renamed or removed make results impossible to repeat."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "benchmarks")  # as of learning.py
    results = json.loads(file.read_text(encoding="utf-8"))
    with allow_imports("badly_scaled"):
        check(results["document"])
    assert results_markdown(results)
    for subject, measurement in results["measurements"].items():
        assert subject == "sb3" or not measurement["git"]["dirty"]


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_results_are_on_a_page(file: Path) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert re.search(rf"^```{{rlgraph-results}} {file.stem}$", pages, re.MULTILINE)
