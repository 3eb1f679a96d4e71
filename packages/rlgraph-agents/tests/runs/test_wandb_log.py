"""Weights & Biases, against a stand-in that writes down what it is given."""

import json
import sys
from types import SimpleNamespace

import pytest
from doubles import raising

from rlgraph.agents import Agent
from rlgraph.core import SpecError, allow_network
from rlgraph.runs import fork, resume, train
from rlgraph.runs.configuration import check
from rlgraph.runs.tuning import tune


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


def without_wandb(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    return "needs wandb.*pip install"


def without_login(monkeypatch):
    wandb = StandIn()
    wandb.init = raising(RuntimeError("api_key not configured"))
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    return r"did not start \(api_key not configured\): log in with 'wandb login'"


def content(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".lock"
    }


@pytest.mark.parametrize("prepare", [without_wandb, without_login])
def test_a_run_that_cannot_be_logged_changes_nothing(spec, tmp_path, undrawn, monkeypatch, prepare):
    """A finished run stays where it is, whatever was to follow it: a new one, its own rest, a fork."""
    run, other, new = tmp_path / "run", tmp_path / "other", tmp_path / "new"
    plain = {**spec, "logging": {"tensorboard": True}}
    monkeypatch.setitem(sys.modules, "wandb", StandIn())
    train(plain, run)
    train(spec, other)
    before, before_other = content(run), content(other)
    match = r"logging\.wandb: .*" + prepare(monkeypatch)
    agent = Agent.from_spec(spec["agent"], env="deterministic", backend="numpy")
    for follow in (
        lambda: train(spec, run),
        lambda: train(spec, new),
        lambda: agent.learn(40, folder=run, wandb={"mode": "offline"}),
        lambda: resume(other, steps=60),
        lambda: fork(run, other, ["logging.wandb={mode: offline}"], steps=60),
        lambda: fork(run, new, ["logging.wandb={mode: offline}"], steps=60),
    ):
        with pytest.raises(SpecError, match=match):
            follow()
        assert content(run) == before and content(other) == before_other
        assert sorted(each.name for each in tmp_path.iterdir()) == ["other", "run"]


def test_a_document_is_checked_for_the_package(spec, tmp_path, monkeypatch):
    """By `check`, with the document's other faults; a search begins no trial that would fail."""
    match = r"logging\.wandb: .*" + without_wandb(monkeypatch)
    with pytest.raises(SpecError, match=match):
        check(spec)
    with pytest.raises(SpecError, match=match):
        tune(spec, tmp_path / "search", 2, space={"discount": [0.9, 0.99]})
    assert not (tmp_path / "search").exists()


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
