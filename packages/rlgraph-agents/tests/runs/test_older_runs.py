"""Run folders that older versions wrote are read, and their agents act as they did when they were trained."""

import json
from pathlib import Path

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import CheckpointError
from rlgraph.learning.stored_meaning import as_it_meant

FIXTURES = Path(__file__).parent / "fixtures"
#: The recorded values have six digits that every backend and processor agrees on.
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
RUNS = sorted(file.parent.relative_to(FIXTURES).as_posix() for file in FIXTURES.glob("*/*/recorded.json"))


def acts_as_recorded(agent, recorded):
    states = np.asarray(recorded["states"], agent.state_space.dtype)
    extra = [name for name in recorded if name not in ("states", "actions")]
    actions, more = agent.get_actions(states, use_exploration=False, extra_returns=extra)
    for name, value in {"actions": actions, **more}.items():
        np.testing.assert_allclose(value, recorded[name], **CLOSE, err_msg=name)
    return True


def test_there_are_runs():
    assert len(RUNS) >= 6


def recorded_of(folder):
    return json.loads((folder / "recorded.json").read_text())


@pytest.mark.parametrize("run", RUNS)
def test_older_runs_act_as_recorded_on_numpy(run):
    folder = FIXTURES / run
    for path in (folder, folder / "checkpoints" / "last"):
        assert acts_as_recorded(Agent.load(path, backend="numpy"), recorded_of(folder))


@pytest.mark.parametrize("run", RUNS)
def test_older_runs_act_as_recorded_on_backends(run, backend):
    document = json.loads((FIXTURES / run / "config.json").read_text())["run"]
    # So small a network acts on NumPy unless told otherwise.
    spec = {**as_it_meant(Agent, document["agent"], 1), "acting": "backend"}
    agent = Agent.from_spec(spec, env=document["environment"], backend=backend)
    agent.load_model(FIXTURES / run / "checkpoints" / "last")
    assert agent.acting == "backend"
    assert acts_as_recorded(agent, recorded_of(FIXTURES / run))


def test_dropout_of_older_runs_is_answered():
    """Made by hand, the agent would drop in updates, as it did not then."""
    document = json.loads((FIXTURES / "v0_2" / "ppo_dropout" / "config.json").read_text())["run"]
    agent = Agent.from_spec(document["agent"], env=document["environment"], backend="torch")
    with pytest.raises(CheckpointError, match="dropout dropped nothing: use Agent.load, or give it rate 0"):
        agent.load_model(FIXTURES / "v0_2" / "ppo_dropout" / "checkpoints" / "last")
