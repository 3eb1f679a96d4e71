"""An environment held against the contract, for people and machines."""

import json

import gymnasium
import numpy as np
import pytest


class Broken(gymnasium.Env):
    """Its third state is no number."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode, self.steps = render_mode, 0

    def reset(self, seed=None, options=None):
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(2, np.nan if self.steps == 3 else 0, np.float32), 1.0, self.steps == 4, False, {}


@pytest.fixture
def broken():
    """The id under which `Broken` is registered."""
    gymnasium.register("Broken-v0", Broken)
    yield "Broken-v0"
    del gymnasium.registry["Broken-v0"]


def test_a_sound_environment(rlgraph):
    outcome = rlgraph("check-env", "CartPole-v1")
    assert outcome.code == 0 and outcome.out.endswith("CartPole-v1 keeps the contract\n")
    data = json.loads(rlgraph("check-env", "CartPole-v1", "--json", "--episodes", 1).out)
    assert data["passed"] and all(finding["level"] != "error" for finding in data["findings"])


def test_one_that_breaks_the_contract(rlgraph, broken):
    outcome = rlgraph("check-env", broken)
    assert outcome.code == 3 and outcome.out.endswith("Broken-v0 breaks the contract\n")
    outcome = rlgraph("check-env", broken, "--json")
    data = json.loads(outcome.out)
    assert (outcome.code, data["passed"]) == (3, False)
    assert any(finding["level"] == "error" and "step" in finding["message"] for finding in data["findings"])


def test_a_spec_as_json(rlgraph, refused):
    assert rlgraph("check-env", '{"type": "grid_world", "world": "4x4"}').code == 0
    refused("is not valid JSON", "check-env", '{"type": "grid_world"')


def test_one_that_there_is_not(refused):
    assert refused("The nearest is 'CartPole-v1'", "check-env", "CartPol-v1").out == ""
