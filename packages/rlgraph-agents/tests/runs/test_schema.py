"""The schema of a run's document accepts what RLgraph accepts, and finds what an editor should mark."""

import jsonschema
import pytest

from rlgraph.algorithms.presets import find_preset
from rlgraph.runs.configuration import resolve
from rlgraph.runs.schema import agent_schema, run_schema

PRESET = {"agent": find_preset("dqn", "CartPole-v1").agent, "environment": "CartPole-v1", "steps": 100}


@pytest.fixture(scope="module")
def validator():
    schema = run_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    "document",
    [
        PRESET,
        {"agent": "dqn", "environment": {"type": "grid_world", "world": "2x2"}, "steps": 1},
        {**PRESET, "agent": "dqn.yaml", "$schema": "run.schema.json"},
        {**PRESET, "agent": {"type": "dqn", "memory_spec": {"capacity": 7}, "optimizer_spec": "adam"}},
        {**PRESET, "agent": {"type": "my_package:MyAgent", "anything": 3}},
        {**PRESET, "environment": {"type": "grid_world", "seed": 3}},
        {**PRESET, "environment": {"type": "openai_gym", "gym_env": "CartPole-v1", "max_episode_steps": 9}},
    ],
)
def test_right_documents(validator, document):
    validator.validate(document)


def test_a_resolved_document(validator):
    validator.validate(resolve(PRESET))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": -1},
        {"workr": {}},
        {"worker": {"num_envs": "2"}},
        {"agent": {"type": "dqn", "double_q": "yes"}},
        {"agent": {"type": "dqn", "memory_spec": {"capacity": "many"}}},
        {"agent": {"type": "dqn", "network_spec": [{"type": "dense", "unitz": 4}]}},
        {"agent": {"type": "dqn", "network_spec": [{"type": "dense", "units": 4, "activation": 3}]}},
        {"agent": {"type": "dqn", "update_spec": {"batch_size": 0}}},
        {"environment": {"type": "grid_world", "wrld": "2x2"}},
        {"agent": {"type": "dqn", "seed": 3}},
    ],
)
def test_wrong_documents(validator, change):
    assert not validator.is_valid({**PRESET, **change})


def test_an_agent_alone():
    jsonschema.Draft202012Validator(agent_schema()).validate(
        {**PRESET["agent"], "backend": "numpy", "seed": 3}
    )


def test_descriptions_and_defaults_come_from_the_code():
    (dqn,) = [s for s in run_schema()["$defs"]["agent"]["anyOf"] if s.get("title") == "dqn"]
    assert dqn["properties"]["discount"] == {
        "type": "number",
        "default": 0.99,
        "description": "discount factor of one step.",
    }


@pytest.mark.parametrize(
    ("component", "argument", "definition"),
    [
        ("adam", "learning_rate", "schedule"),
        ("epsilon_greedy", "epsilon_spec", "schedule"),
        ("policy", "network_spec", "network"),
        ("intrinsic_curiosity_module", "encoder_spec", "network"),
    ],
)
def test_types_come_from_annotations(component, argument, definition):
    argument = run_schema()["$defs"][f"component.{component}"]["properties"][argument]
    assert argument["$ref"] == f"#/$defs/{definition}" and argument["description"]
