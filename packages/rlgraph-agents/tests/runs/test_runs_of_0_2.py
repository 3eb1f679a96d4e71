"""Runs of version 0.2 whose options have another meaning now: they load, act as they did, and learn as they did."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rlgraph.agents import Agent

RUNS = Path(__file__).parent / "fixtures" / "v0_2"


@pytest.fixture(params=["sac_far_actions", "td3_far_actions"])
def far(request, tmp_path):
    """A run whose actions are between 1000 and 1001."""
    return Path(shutil.copytree(RUNS / request.param, tmp_path / "run"))


def test_far_actions_act_as_they_did(far):
    recorded = json.loads((far / "recorded.json").read_text())
    agent = Agent.load(far)
    actions = agent.get_actions(np.array(recorded["states"], np.float32), False)
    np.testing.assert_allclose(actions, recorded["actions"], rtol=1e-6)


def test_far_actions_are_learned_from_as_they_were(far):
    agent = Agent.load(far)
    assert agent._arguments["scale_actions"] is False
    states = agent.state_space.with_batch_rank().sample(8, rng=np.random.default_rng(0))
    records = {
        "states": states,
        "actions": agent.action_space.with_batch_rank().sample(8, rng=np.random.default_rng(1)),
        "rewards": np.ones(8),
        "terminals": np.zeros(8, bool),
        "next_states": states,
    }
    assert np.isfinite(agent.update(records)["loss"])


def test_normalized_states_keep_their_smallest_deviation():
    agent = Agent.load(RUNS / "ppo_normalized_states")
    recorded = json.loads((RUNS / "ppo_normalized_states" / "recorded.json").read_text())
    actions = agent.get_actions(np.array(recorded["states"], np.float32), False)
    np.testing.assert_allclose(actions, recorded["actions"], rtol=1e-5, atol=1e-6)
    assert agent.learner.statistics.counters()["states/"]["epsilon"] == 1e-8
