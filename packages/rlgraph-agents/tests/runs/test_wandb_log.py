"""Weights & Biases, against a stand-in that writes down what it is given."""

import json
import sys
from types import SimpleNamespace

import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError, allow_network
from rlgraph.runs import resume, train
from rlgraph.runs.configuration import check


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


def test_no_document_sends_a_run_elsewhere_by_itself(spec, tmp_path, undrawn, monkeypatch):
    """A run folder is a document, too; the argument of a program is not."""
    wandb, run = StandIn(), tmp_path / "run"
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    online = {**spec, "logging": {"tensorboard": False, "wandb": {"project": "other"}}}
    refused = r"logging\.wandb: expected --allow-network, since it sends the run to Weights & Biases"
    for call in (check, lambda document: train(document, run)):
        with pytest.raises(SpecError, match=refused):
            call(online)
    assert not wandb.inits and not run.exists()
    with allow_network():
        train(online, run)
    with pytest.raises(SpecError, match=refused):
        resume(run, steps=60)
    assert [each["mode"] for each in wandb.inits] == ["online"]
    agent = Agent.from_spec(online["agent"], env="deterministic", backend="numpy")
    agent.learn(40, folder=tmp_path / "own", wandb={"project": "mine"})
    assert [each["project"] for each in wandb.inits] == ["other", "mine"]
