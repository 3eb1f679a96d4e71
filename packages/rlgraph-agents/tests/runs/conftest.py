"""Runs without pictures: a PNG of the graph takes longer than a short run."""

import pytest

import rlgraph.runs.curve
from rlgraph.runs.run_folder import RunFolder


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(RunFolder, "draw_graph", lambda self: None)
    monkeypatch.setattr(rlgraph.runs.curve, "draw_curve", lambda *arguments: None)
