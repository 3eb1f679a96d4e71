"""Runs without pictures: a PNG of the graph takes longer than a short run."""

import pytest

import rlgraph.runs.curve
from rlgraph.runs.run_folder import RunFolder


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(RunFolder, "draw_graph", lambda self: None)
    monkeypatch.setattr(rlgraph.runs.curve, "draw_curve", lambda *arguments: None)


@pytest.fixture(scope="session")
def acting_run():
    """Makes the document of a run that learns nothing, on NumPy; it takes milliseconds.

    Its environments can tell their state.
    """

    def make(**changes):
        return {
            "agent": {
                "type": "dqn",
                "network_spec": [{"type": "dense", "units": 4}],
                "update_spec": {"do_updates": False},
                "memory_spec": {"capacity": 50},
                "execution_spec": {"threads": 1},
            },
            "environment": {"type": "deterministic", "steps_to_terminal": 7},
            "backend": "numpy",
            "steps": 60,
            "seed": 2,
            "worker": {"num_envs": 2},
            "logging": {"report_interval": 10, "tensorboard": False},
            "evaluation": {"interval": 24, "episodes": 2, "final_episodes": 2},
            "checkpoints": {"interval": 20},
            **changes,
        }

    return make
