"""The table of training beside Stable-Baselines3."""

import json
from pathlib import Path

import pytest

from devlib.project import ROOT

pytest.importorskip("sphinx")
from speed import PEERS, RESULTS, TITLES, WAYS, peers_markdown, speed_markdown


def test_the_table(tmp_path: Path) -> None:
    rows = [{"name": "sb3", "figure": {"median": 1234.5}}]
    rows += [{"name": way, "ratio": {"median": 2.0 + number}} for number, way in enumerate(WAYS)]
    measured = {
        "agent": "dqn",
        "machine": "A processor, 2 cores, load 3.0",
        "rows": rows,
        "trained_by": {"sb3": "sb3 2.9, torch 2.1", "rlgraph torch": "rlgraph-agents 0.2, torch 2.1"},
    }
    (tmp_path / "dqn.json").write_text(json.dumps(measured))
    table = speed_markdown(tmp_path)
    assert "| {doc}`agents/dqn` | 1,234 | 2.00 | 3.00 | 4.00 | 5.00 |" in table
    assert "sb3 2.9, torch 2.1, rlgraph-agents 0.2. A processor, 2 cores." in table


def test_every_agent_that_stable_baselines3_has_is_measured() -> None:
    measured = {file.stem for file in RESULTS.glob("*.json")}
    assert measured == {"a2c", "dqn", "ppo", "qr_dqn", "sac", "td3"}


def test_the_table_of_libraries(tmp_path: Path) -> None:
    """The fastest way is that with the largest median; a ratio is the median of the rounds' ratios."""
    rows = [
        {"name": "rltools", "figure": {"rounds": [100.0, 50.0, 80.0]}},
        {"name": "rlgraph torch", "figure": {"rounds": [90.0, 90.0, 90.0]}},
        {"name": "rlgraph torch compiled", "figure": {"rounds": [110.0, 100.0, 120.0]}},
    ]
    measured = {"agent": "sac", "machine": "A, load 1", "rows": rows, "trained_by": {"rltools": "rltools 2"}}
    (tmp_path / "sac.json").write_text(json.dumps(measured))
    lines = peers_markdown(tmp_path).splitlines()
    assert lines[:3] == ["| | SAC |", "| --- | ---: |", "| RLgraph | 110, PyTorch, compiled |"]
    assert "| RLtools | 80 (1.50) |" in lines and "| SBX |  |" in lines
    assert lines[-1] == "rltools 2. A."


def test_all_libraries_are_in_the_table() -> None:
    libraries = ROOT / "tools" / "benchmarks" / "peers"
    assert TITLES.keys() == {path.stem for path in libraries.glob("[a-z]*.py")}
    assert {"sac", "td3"} <= {file.stem for file in PEERS.glob("*.json")}
