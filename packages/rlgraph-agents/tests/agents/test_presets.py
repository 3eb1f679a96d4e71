"""The tuned specs that are shipped."""

import json
from importlib.resources import files

import jsonschema
import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.agents.presets import preset
from rlgraph.environments import make_environment
from rlgraph.runs.configuration import check, resolve
from rlgraph.runs.schema import run_schema

SHIPPED = sorted(
    file.name for file in files("rlgraph.agents.presets").iterdir() if file.name.endswith(".json")
)
ENVIRONMENTS = {
    "acrobot_v1": "Acrobot-v1",
    "atari": {"type": "atari", "game": "Pong"},
    "cartpole_v1": "CartPole-v1",
    "grid_world_4x4": {"type": "grid_world", "world": "4x4"},
    "grid_world_4x4_ftj": {
        "type": "grid_world",
        "world": "4x4",
        "action_type": "ftj",
        "state_representation": "xy+orientation",
    },
}


def environment_of(file):
    name = file.removesuffix(".json").split("_", 1)[1]
    if name == "atari":
        pytest.importorskip("ale_py", reason="Atari games need the extra 'atari'")
    return ENVIRONMENTS[name]


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(run_schema())


def test_there_are_presets():
    assert "dqn_cartpole_v1.json" in SHIPPED


@pytest.mark.parametrize("file", SHIPPED)
def test_every_preset_makes_an_agent(file):
    name, environment = file.split("_", 1)[0], environment_of(file)
    spec = json.loads((files("rlgraph.agents.presets") / file).read_text())
    agent = Agent.from_spec(spec, env=environment, backend="numpy")
    assert spec["type"] == name
    assert isinstance(agent, DQNAgent)
    assert agent.state_space == make_environment(environment).state_space


def test_names_are_found_in_any_case_and_unknown_ones_give_none():
    assert preset("dqn", "cartpole-v1") == preset("dqn", "CartPole-v1") is not None
    assert preset("dqn", "CartPole-v7") is None
    assert preset("nobody", "CartPole-v1") is None


@pytest.mark.parametrize("file", SHIPPED)
def test_every_preset_is_right_for_the_schema_and_for_the_check(file, schema):
    environment = environment_of(file)
    spec = json.loads((files("rlgraph.agents.presets") / file).read_text())
    document = {"agent": spec, "environment": environment, "steps": 1}
    schema.validate(document)
    check(document)
    schema.validate(resolve(document))
