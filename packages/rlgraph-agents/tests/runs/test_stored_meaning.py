"""A run that was stored with an older meaning of options is read, resumed and forked with that meaning."""

import json
from pathlib import Path

import pytest
from doubles import killed_at

from rlgraph.agents import Agent
from rlgraph.algorithms.dqn import DQN
from rlgraph.components import Dropout
from rlgraph.core import Component, rlgraph_api
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.learning.stored_meaning import MEANING, MEANING_KEY, changed_layers
from rlgraph.runs import RunFolderError, fork, resume, run_folder, train
from rlgraph.runs.resuming import check_layers

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def older(acting_run, tmp_path, monkeypatch):
    """A run that was cut off, of the time when a discount of 0.9 was called 0.8."""
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "MEANING", 1)
        run = acting_run()
        document = {**run, "agent": {**run["agent"], "discount": 0.8}}
        with pytest.raises(RuntimeError):
            train(document, tmp_path / "run", callbacks=[killed_at(50)])

    def as_it_meant(options, meaning):
        assert meaning == 1 < MEANING and options["discount"] == 0.8
        return {**options, "discount": 0.9}

    monkeypatch.setattr(DQN, "as_it_meant", staticmethod(as_it_meant))
    return tmp_path / "run"


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


def test_it_is_loaded_with_its_meaning(older):
    assert Agent.load(older)._arguments["discount"] == 0.9


@pytest.mark.parametrize("overrides", [[], ["executor_spec=null"]])
def test_it_is_resumed_with_its_meaning(older, overrides):
    before = config_of(older)
    resume(older, overrides=overrides)
    assert config_of(older)[MEANING_KEY] == 1 and config_of(older)["run"] == before["run"]
    checkpoint = read_manifest(older / "checkpoints" / "step-000000060")
    # A checkpoint that is written now says what it means now.
    assert checkpoint.facts[MEANING_KEY] == MEANING and checkpoint.facts["agent"]["discount"] == 0.9


def test_a_fork_says_what_it_means_now(older, tmp_path):
    fork(older, tmp_path / "new")
    config = config_of(tmp_path / "new")
    assert config[MEANING_KEY] == MEANING and config["run"]["agent"]["discount"] == 0.9
    assert config_of(older)["run"]["agent"]["discount"] == 0.8


def test_a_new_run_has_the_meaning_of_now(acting_run, tmp_path):
    train(acting_run(), tmp_path / "run")
    assert config_of(tmp_path / "run")[MEANING_KEY] == MEANING


OLD = Path(__file__).parent / "fixtures" / "v0_2" / "ppo_dropout"


class Doubled(Component):
    """A layer that knows training."""

    @rlgraph_api
    def call(self, inputs, training=None):
        return inputs


def test_dropout_of_older_runs_is_out_of_updates_as_it_was():
    layers = [p for p in Agent.load(OLD).executor.root.walk() if isinstance(p, Dropout)]
    assert [layer.rate for layer in layers] == [0.0, 0.0]


def test_other_layers_that_know_training_are_named():
    spec = {"type": "dqn", "network_spec": [64, {"type": "noisy_dense", "units": 4}, {"type": "dropout"}]}
    assert changed_layers(spec, 1) == ""
    spec["network_spec"].append([{"type": Doubled}])
    with pytest.raises(RunFolderError, match="run cannot be trained further. Doubled: this agent was stored"):
        check_layers(Path("run"), {"run": {"agent": spec}})
    assert changed_layers(spec, MEANING) == ""
