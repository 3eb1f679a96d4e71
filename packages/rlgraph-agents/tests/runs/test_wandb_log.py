"""Weights & Biases, against a stand-in that writes down what it is given."""

import json
import sys
from types import SimpleNamespace

import pytest

from rlgraph.core import SpecError
from rlgraph.runs import resume, train


class StandIn:
    """The three calls of the package that are used."""

    def __init__(self):
        self.inits, self.rows, self.finished = [], [], 0

    def init(self, **arguments):
        self.inits.append(arguments)
        return SimpleNamespace(log=self._log, finish=self._finish)

    def _log(self, scalars, step):
        self.rows.append((step, scalars))

    def _finish(self):
        self.finished += 1


@pytest.fixture
def spec():
    return {
        "agent": {"type": "dqn", "update_spec": {"do_updates": False}, "memory_spec": {"capacity": 100}},
        "environment": "deterministic",
        "backend": "numpy",
        "steps": 40,
        "logging": {"report_interval": 20, "tensorboard": False, "wandb": {"mode": "offline", "tags": ["a"]}},
        "evaluation": {"interval": 40, "episodes": 1, "final_episodes": 1},
    }


@pytest.mark.slow
def test_metrics_go_there_too(spec, tmp_path, undrawn, monkeypatch):
    wandb = StandIn()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    train(spec, tmp_path / "run")
    resume(tmp_path / "run", steps=60)
    first, second = wandb.inits
    assert {key: first[key] for key in ("project", "name", "mode", "tags", "resume")} == {
        "project": "rlgraph",
        "name": "run",
        "mode": "offline",
        "tags": ["a"],
        "resume": "allow",
    }
    assert (
        first["id"] == second["id"] == json.loads((tmp_path / "run" / "config.json").read_text())["identity"]
    )
    assert first["config"]["steps"] == 40
    assert [step for step, _ in wandb.rows] == [20, 40, 40, 60]
    assert wandb.rows[2][1]["evaluation_return_std"] == 0.0
    assert wandb.finished == 2
    assert not (tmp_path / "run" / "tensorboard").exists()


def test_without_the_package(spec, tmp_path, undrawn, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(SpecError, match=r"run\.logging\.wandb: .* needs wandb.*pip install"):
        train(spec, tmp_path / "run")


def test_it_is_imported_only_when_asked_for(spec, tmp_path, undrawn, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    train({**spec, "logging": {"tensorboard": False}}, tmp_path / "run")
