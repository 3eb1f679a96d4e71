"""Presets: run documents that are found by agent and environment, wherever the agent comes from."""

import importlib
import logging

import gymnasium
import jsonschema
import numpy as np
import pytest

from rlgraph.agents import Agent, DQNAgent, PPOAgent
from rlgraph.algorithms.presets import find_preset, presets_of
from rlgraph.core import SpecError, registry
from rlgraph.draw import plan_text
from rlgraph.environments import make_environment
from rlgraph.runs.configuration import check, read_document, resolve
from rlgraph.runs.schema import run_schema

ATARI = {"type": "atari", "game": "Breakout"}
WORLD = {"type": "grid_world", "world": "4x4"}
SHIPPED = [preset for name in registry("rlgraph.agents").names() for preset in presets_of(name)]


#: How an environment begins -> what it needs.
EXTRAS = {"atari": "ale_py", "LunarLander": "Box2D", "Hopper": "mujoco", "HalfCheetah": "mujoco"}


def environment_of(preset):
    environment = preset.document["environment"]
    for name, module in EXTRAS.items():
        if str(environment).startswith(name):
            pytest.importorskip(module, reason=f"{name} needs an extra")
    return ATARI if environment == "atari" else environment


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(run_schema())


# What is shipped.


def test_there_are_presets():
    names = {preset.name for preset in SHIPPED}
    assert {"ppo/CartPole-v1", "a2c/CartPole-v1", "dqn/CartPole-v1", "sac/Pendulum-v1"} <= names


@pytest.mark.parametrize("preset", SHIPPED, ids=lambda preset: preset.name)
def test_every_preset_is_a_run_of_its_agent(preset, schema):
    environment = environment_of(preset)
    schema.validate(preset.document)
    document = {**preset.document, "environment": environment}
    check(document)
    schema.validate(resolve(document))
    assert preset.name.partition("/")[0] == preset.agent["type"]
    assert document.keys().isdisjoint({"backend", "seed"})  # the user's choice
    assert find_preset(preset.agent["type"], environment) == preset
    assert preset.agent.keys().isdisjoint({"execution_spec"})


# Which one is used.


@pytest.mark.parametrize(
    "environment",
    [
        "CartPole-v1",
        {"type": "openai_gym", "gym_env": "CartPole-v1"},
        {"type": "gym", "env_id": "CartPole-v1", "max_episode_steps": 9},
    ],
)
def test_an_id_means_all_ways_to_write_it(environment):
    assert find_preset("PPO", environment).name == "ppo/CartPole-v1"


@pytest.mark.parametrize(
    ("agent", "environment", "name"),
    [
        ("dqn", WORLD, "dqn/grid_world_4x4"),
        (
            "dqn",
            {**WORLD, "action_type": "ftj", "state_representation": "xy+orientation"},
            "dqn/grid_world_4x4_ftj",
        ),
        ("dqn", {**WORLD, "action_type": "ftj"}, None),  # other actions than those that it is tuned for
        ("dqn", ATARI, "dqn/atari"),
        ("dqn", {"type": "atari", "game": "Pong"}, "dqn/Pong"),
        ("dqn", {"type": "atari", "game": "Pong", "frameskip": 2}, "dqn/atari"),
        ("dqn", "CartPole-v7", None),
        ("nobody", "CartPole-v1", None),
        ("dqn", None, None),
        ("rlgraph.algorithms.ppo:PPOAgent", "CartPole-v1", None),
    ],
)
def test_settings(agent, environment, name):
    found = find_preset(agent, environment)
    assert (found and found.name) == name


def test_objects_have_no_preset():
    assert find_preset("ppo", gymnasium.make("CartPole-v1")) is None
    assert find_preset("ppo", gymnasium.envs.classic_control.CartPoleEnv) is None


# One rule in Python and in documents (the command line reads documents).


def test_a_name_means_the_preset_everywhere(caplog):
    caplog.set_level(logging.INFO, "rlgraph")
    agent = Agent.from_spec("ppo", env="CartPole-v1", backend="numpy", seed=3)
    document = read_document({"agent": "ppo", "environment": "CartPole-v1"})
    assert caplog.messages == ["preset ppo/CartPole-v1"] * 2
    assert document == find_preset("ppo", "CartPole-v1").document
    from_document = Agent.from_spec(document["agent"], env="CartPole-v1", backend="numpy", seed=3)
    weights = from_document.get_weights()
    for name, value in agent.get_weights().items():
        np.testing.assert_array_equal(value, weights[name])
    assert plan_text(agent.executor, "update") == plan_text(from_document.executor, "update")
    assert repr(agent).splitlines()[0] == "<PPOAgent on numpy, preset ppo/CartPole-v1"


def test_a_mapping_refuses_the_preset(caplog):
    caplog.set_level(logging.INFO, "rlgraph")
    agent = Agent.from_spec({"type": "ppo"}, env="CartPole-v1", backend="numpy")
    document = {"agent": {"type": "ppo"}, "environment": "CartPole-v1", "steps": 1}
    assert read_document(document) == document
    assert agent.preset is None and repr(agent).splitlines()[0] == "<PPOAgent on numpy"
    assert not any("preset" in message for message in caplog.messages)
    assert type(PPOAgent.from_spec({}, env="CartPole-v1", backend="numpy")) is PPOAgent


def test_what_is_given_comes_before_the_preset():
    layers = [{"type": "dense", "units": 5}]
    agent = Agent.from_spec("dqn", env="CartPole-v1", backend="numpy", network_spec=layers, seed=1)
    shapes = {name: value.shape for name, value in agent.get_weights().items()}
    assert shapes["dqn/policy/network/dense-0/weights"] == (4, 5)
    assert agent.learner.experience.updates.update_interval == 256  # the preset's
    given = {"agent": "ppo", "environment": "CartPole-v1", "steps": 7, "worker": {"frameskip": 2}}
    document = read_document(given)
    assert (document["steps"], document["worker"]) == (7, {"num_envs": 8, "frameskip": 2})
    assert document["evaluation"] == find_preset("ppo", "CartPole-v1").document["evaluation"]


def test_changes_decide_which_preset_it_is():
    document = read_document(
        {"agent": "dqn", "environment": "CartPole-v1"}, environment="Acrobot-v1", agent=None
    )
    assert document == find_preset("dqn", "Acrobot-v1").document


def test_a_preset_is_not_changed_by_its_users():
    read_document({"agent": "ppo", "environment": "CartPole-v1"})["agent"]["optimizer_spec"]["type"] = "sgd"
    assert find_preset("ppo", "CartPole-v1").agent["optimizer_spec"]["type"] == "adam"


def test_learning_has_the_number_of_environments_of_the_preset(backend, execution):
    for steps, options in (
        (8 * 16, {}),  # one rollout of 8 environments
        (16, {"num_envs": 1}),
        (16, {"env": make_environment("CartPole-v1")}),  # one environment, not that of the preset
    ):
        agent = Agent.from_spec("a2c", env="CartPole-v1", backend=backend, execution_spec=execution(backend))
        agent.learn(steps, **options)
        assert (agent.timesteps, agent.updates) == (steps, 1)


# Plug-ins.


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Writes a package with an agent and files, and registers it; gives its name."""
    names = []

    def make(name, module, files):
        package = tmp_path / name
        for file, text in {**files, "__init__.py": files.get("__init__.py", "")}.items():
            (package / file).parent.mkdir(parents=True, exist_ok=True)
            (package / file).write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        registry("rlgraph.agents").register(name, f"{module}:MyAgent")
        names.append(name)
        return name

    yield make
    known = registry("rlgraph.agents")
    for name in names:
        del known._plugins[name.replace("_", "")]


AGENT = "from rlgraph.agents import DQNAgent\nclass MyAgent(DQNAgent):\n    pass\n"
DOCUMENT = "agent: {type: NAME, discount: 0.5}\nenvironment: deterministic\nsteps: 3\n"


@pytest.mark.parametrize(
    ("name", "module", "file"),
    [("plug_in_a", "plug_in_a.agent", "agent.py"), ("plug_in_b", "plug_in_b", "__init__.py")],
)
def test_a_plug_in_ships_its_own(plug_in, name, module, file):
    plug_in(name, module, {file: AGENT, f"presets/{name}/deterministic.yaml": DOCUMENT.replace("NAME", name)})
    agent = Agent.from_spec(name, env="deterministic", backend="numpy")
    assert agent.preset.name == f"{name}/deterministic"
    assert isinstance(agent, DQNAgent) and agent.learner.experience.discount == 0.5
    assert read_document({"agent": name, "environment": "deterministic"})["steps"] == 3


def test_a_preset_that_is_no_run_is_named(plug_in):
    plug_in("plug_in_c", "plug_in_c.agent", {"agent.py": AGENT, "presets/plug_in_c/x.yaml": "type: dqn\n"})
    with pytest.raises(SpecError, match=r"x.yaml: expected a run's document with 'agent' and 'environment'"):
        find_preset("plug_in_c", "deterministic")


def test_a_broken_plug_in_says_what_is_broken(plug_in):
    plug_in("plug_in_d", "plug_in_d.agent", {"__init__.py": "raise RuntimeError('broken')"})
    with pytest.raises(Exception, match="agent 'plug_in_d' of this program cannot be loaded"):
        Agent.from_spec("plug_in_d", env="deterministic", backend="numpy")
