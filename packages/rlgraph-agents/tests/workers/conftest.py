"""Runs without pictures: a PNG of the graph takes longer than a short run."""

import pytest

import rlgraph.workers.curve
from rlgraph.workers.run_folder import RunFolder


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(RunFolder, "draw_graph", lambda self: None)
    monkeypatch.setattr(rlgraph.workers.curve, "draw_curve", lambda *arguments: None)
