"""The table of training beside Stable-Baselines3."""

import json
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
from speed import RESULTS, WAYS, speed_markdown


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
