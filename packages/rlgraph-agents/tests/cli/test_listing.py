"""What is installed, for people at 80 columns and for machines."""

import json
import sys
from copy import copy

import gymnasium
import pytest

from rlgraph.agents import Agent
from rlgraph.core import Registry, registry
from rlgraph.spaces import FloatBox, IntBox


@pytest.mark.parametrize("columns", [80, 120])
def test_plugins(rlgraph, backends, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = rlgraph("plugins")
    assert outcome.code == 0
    lines = [line.strip() for line in outcome.out.splitlines()]
    assert any(line.startswith("environments of rlgraph-agents ") for line in lines)
    assert max(map(len, outcome.out.splitlines())) <= columns and "…" not in outcome.out
    # Long targets go on in the next line, behind a dot or the colon; long names in them behind an underscore, or with
    # a capital.
    targets, name = {}, None  # kinds of plug-ins may use one name
    for line in lines:
        cells = line.split()
        if len(cells) == 2:
            name = cells[0]
            targets.setdefault(name, []).append(cells[1])
        elif len(cells) == 1:
            assert targets[name][-1][-1] in ".:_" or cells[0][0].isupper()
            targets[name][-1] += cells[0]
    for group in ("rlgraph.backends", "rlgraph.components", "rlgraph.agents", "rlgraph.environments"):
        for plugin in registry(group).plugins():
            assert plugin.target in targets[plugin.name]
    assert {*backends, "numpy"} <= set(targets)


def test_plugins_begin_with_what_is_chosen_most(rlgraph):
    kinds = list(dict.fromkeys(entry["kind"] for entry in json.loads(rlgraph("plugins", "--json").out)))
    assert kinds[:3] == ["backend", "agent", "engine"]


def test_plugins_for_machines(rlgraph):
    outcome = rlgraph("plugins", "--json")
    listed = json.loads(outcome.out)
    (dqn,) = (entry for entry in listed if (entry["kind"], entry["name"]) == ("agent", "dqn"))
    assert (dqn["distribution"], dqn["target"]) == ("rlgraph-agents", "rlgraph.algorithms.dqn:DQN")


def test_what_is_not_installed(rlgraph, monkeypatch):
    """An extra of an installed plug-in, and names of distributions that are not there."""
    module = sys.modules[Registry.__module__]  # `rlgraph.core.registry` is the function
    version_of = module.version_of
    monkeypatch.setattr(module, "version_of", lambda name: None if name == "ale-py" else version_of(name))
    known = registry("rlgraph.executors")
    monkeypatch.setattr(known, "_plugins", {})
    outcome = rlgraph("plugins", "environments")
    assert "ale-py is not installed:" in outcome.out and "pip install 'rlgraph-agents[atari]'" in outcome.out
    lines = [line.split() for line in rlgraph("plugins", "executors").out.splitlines() if line.strip()]
    assert lines[:2] == [
        ["not", "installed"],
        ["executors", "apex,", "impala,", "sync_batch", "pip", "install", "rlgraph-dist"],
    ]
    assert " ".join(lines[2]).startswith(
        "RLgraph is not on PyPI yet: in a clone of it, write packages/ before"
    )
    entries = {entry["name"]: entry for entry in json.loads(rlgraph("plugins", "environments", "--json").out)}
    assert (entries["atari"]["missing"], entries["grid_world"]["install"]) == (["ale-py"], "")


def test_agents(rlgraph):
    outcome = rlgraph("agents")
    assert outcome.code == 0 and "dqn  " in outcome.out and "rlgraph-agents" in outcome.out
    listed = json.loads(rlgraph("agents", "--json").out)
    assert [entry["name"] for entry in listed] == registry("rlgraph.agents").names()


@pytest.mark.parametrize("kind", ["agents", "environments"])
def test_a_broken_plugin_leaves_the_others(rlgraph, monkeypatch, kind):
    known = registry(f"rlgraph.{kind}")
    for name in ("_plugins", "_objects"):
        monkeypatch.setattr(known, name, copy(getattr(known, name)))
    known.register("broken", "no_such_package.thing:Thing")
    listed = {entry["name"]: entry for entry in json.loads(rlgraph(kind, "--json").out)}
    assert listed.keys() == set(known.names())
    assert "cannot be loaded from no_such_package.thing:Thing" in listed["broken"]["summary"]
    outcome = rlgraph(kind, "broken")
    assert outcome.code == 2 and "No module named 'no_such_package'" in outcome.err


def test_one_agent(rlgraph):
    outcome = rlgraph("agents", "ppo")
    assert outcome.code == 0
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    titles = [line for line in lines if line[:1].strip()]
    assert titles == [
        "agent ppo",
        "Proximal policy optimization (Schulman et al., 2017).",
        "options of PPO",
        "options of Rollouts",
        "options of every agent",
        "API methods",
        "papers",
        "presets",
        "spec",
    ]
    assert "Schulman et al. (2017), https://arxiv.org/abs/1707.06347" in outcome.out
    assert "ppo/CartPole-v1" in outcome.out and "how far the ratio of new and old" in outcome.out


@pytest.mark.parametrize("name", registry("rlgraph.agents").names())
def test_every_agent_for_machines(rlgraph, name):
    data = json.loads(rlgraph("agents", name, "--json").out)
    without = [
        option for option, entry in data["options"].items() if not (entry["description"] and entry["group"])
    ]
    assert data["name"] == name and without == []
    assert (
        data["options"]["state_space"]["required"]
        and data["options"]["seed"]["group"] == "options of every agent"
    )
    actions = FloatBox(-1.0, 1.0) if name == "td3" else IntBox(2)
    spaces = {"state_space": FloatBox(shape=(2,)), "action_space": actions}
    Agent.check_spec(data["spec"], **spaces)  # it can be copied as it is


def test_a_misspelt_agent(rlgraph):
    outcome = rlgraph("agents", "poo")
    assert outcome.code == 2 and "Did you mean 'ppo'?" in outcome.err


def test_environments(rlgraph):
    outcome = rlgraph("environments")
    listed = {line.split()[0] for line in outcome.out.splitlines() if line[:1].strip()}
    assert outcome.code == 0 and {"grid_world", "openai_gym"} <= listed
    assert "gym_env" in json.loads(rlgraph("environments", "openai_gym", "--json").out)["options"]
    assert json.loads(rlgraph("environments", "--gymnasium", "--json").out) == sorted(gymnasium.registry)
    assert "CartPole-v1\n" in rlgraph("environments", "--gymnasium").out


def test_mistakes(rlgraph):
    outcome = rlgraph("agents", "dqm")
    assert (outcome.code, outcome.out) == (2, "")
    assert "unknown agent 'dqm'. Did you mean 'dqn'?" in outcome.err
    assert (
        "unknown environment 'grid_wrld'. Did you mean 'grid_world'?"
        in rlgraph("environments", "grid_wrld").err
    )


class Bracketed:
    """Draws ``[height, width]`` pictures."""

    def __init__(self, shape: str = "[rows, columns]"):
        pass


def test_brackets_of_docstrings_and_defaults_are_no_markup(rlgraph, monkeypatch):
    known = registry("rlgraph.environments")
    for part in ("_plugins", "_objects"):  # what is registered is gone behind the test
        monkeypatch.setattr(known, part, copy(getattr(known, part)))
    known.register("bracketed", Bracketed)
    outcome = rlgraph("environments", "bracketed")
    assert outcome.code == 0, outcome.err
    assert "``[height, width]``" in outcome.out and "'[rows, columns]'" in outcome.out
