"""Imports as they were written for version 0.2, of modules that have another place now."""

import subprocess
import sys

import pytest

MOVED = [
    ("rlgraph.agents.learner", "rlgraph.learning.learner", "Learner"),
    ("rlgraph.agents.experience.step", "rlgraph.experience.step", "VectorStep"),
    ("rlgraph.agents.presets", "rlgraph.algorithms.presets", "find_preset"),
    ("rlgraph.environments.gym_env", "rlgraph.environments.adapters.gym_env", "OpenAIGymEnv"),
]


@pytest.mark.parametrize(("old", "new", "name"), MOVED)
def test_the_old_name_gives_the_same_objects_and_a_word(old, new, name):
    program = f"""
import importlib, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from {old} import {name}
assert {name} is getattr(importlib.import_module("{new}"), "{name}")
assert any("{old} is {new} now" in str(each.message) for each in told), told
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_class_of_an_agent_is_found_beside_its_algorithm():
    with pytest.warns(DeprecationWarning, match=r"rlgraph.agents.dqn is rlgraph.algorithms.dqn now"):
        from rlgraph.agents.dqn import DQNAgent
    from rlgraph import agents

    assert DQNAgent is agents.DQNAgent


@pytest.mark.parametrize("name", ["rlgraph.agents.no_such_module", "rlgraph.environments.no_such_module"])
def test_what_never_was_is_no_module(name):
    with pytest.raises(ModuleNotFoundError, match=name):
        __import__(name)
