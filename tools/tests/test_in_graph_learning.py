"""What the page on environments in the graph says of learning in it and from outside."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest

from devlib.project import ROOT

ENTRIES = json.loads((ROOT / "docs" / "results" / "in_graph_learning.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "environments_in_the_graph.md").read_text(encoding="utf-8")
BACKENDS = {"torch": "PyTorch", "tf": "TensorFlow"}
IDS = [f"{entry['task']} {entry['backend']}" for entry in ENTRIES]


def of(entry: dict[str, Any], in_graph: bool, policy: str) -> list[float]:
    return [run[policy] for run in entry["runs"] if run["in_graph"] == in_graph]


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_every_seed_was_run_both_ways(entry: dict[str, Any]) -> None:
    assert not entry["git"]["dirty"]
    for in_graph in (True, False):
        assert [run["seed"] for run in entry["runs"] if run["in_graph"] == in_graph] == [11, 12, 13, 14, 15]


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_the_page_has_the_returns(entry: dict[str, Any]) -> None:
    cells = []
    for policy in ("last", "best"):
        for in_graph in (True, False):
            found = of(entry, in_graph, policy)
            cells.append(f"{median(found):.1f} ({min(found):.1f} to {max(found):.1f})")
    agent, task = entry["agent"]["type"].upper(), entry["evaluated_in"].partition("-")[0]
    title = f"{agent}, {task}, {BACKENDS[entry['backend']]}"
    assert f"| {title} | {' | '.join(cells)} |" in PAGE
