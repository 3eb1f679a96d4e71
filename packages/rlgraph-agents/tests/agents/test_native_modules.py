"""Agents whose network is a module of a framework."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import CapabilityError, SpecError
from rlgraph.spaces import FloatBox, IntBox


def agent(acting="auto"):
    nn = pytest.importorskip("torch").nn
    ModuleComponent = pytest.importorskip("rlgraph.torch").ModuleComponent
    body = ModuleComponent(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU()), scope="body")
    spec = {"type": "dqn", "network_spec": [body], "seed": 0}
    spaces = {"state_space": FloatBox(shape=(4,)), "action_space": IntBox(2)}
    return Agent.from_spec(spec, **spaces, backend="torch", acting=acting)


def test_it_acts_on_the_backend_and_steps_what_trains():
    dqn = agent()
    assert dqn.acting == "backend"
    rng = np.random.default_rng(0)
    states = rng.normal(size=(10, 4)).astype(np.float32)
    q_values = dqn.executor.execute("get_q_values", states)
    np.testing.assert_array_equal(dqn.get_actions(states, use_exploration=False), q_values.argmax(axis=1))
    before = dqn.executor.get_weights()
    batch = {
        "states": states,
        "actions": rng.integers(0, 2, 10),
        "rewards": np.ones(10, np.float32),
        "terminals": np.zeros(10, bool),
        "next_states": states[::-1].copy(),
    }
    dqn.update(batch)
    after = dqn.executor.get_weights()
    changed = {
        name for name in before if name.startswith("dqn/policy/") and (before[name] != after[name]).any()
    }
    trainable = {
        name
        for name, v in dqn.executor.built.variables.items()
        if name.startswith("dqn/policy/") and v.trainable
    }
    assert changed == trainable
    assert not any("running" in name for name in trainable)


def test_ppo_learns_with_it():
    """Acting has no time rank, and a rollout has one."""
    nn = pytest.importorskip("torch").nn
    body = pytest.importorskip("rlgraph.torch").ModuleComponent(
        nn.Sequential(nn.Linear(4, 8), nn.Tanh()), scope="body"
    )
    spec = {"type": "ppo", "network_spec": [body, 8], "rollout_length": 8, "num_epochs": 1, "seed": 0}
    ppo = Agent.from_spec(spec, env="CartPole-v1", backend="torch")
    before = ppo.get_weights()["ppo/policy/network/body/0/weight"]
    ppo.learn(8)
    assert (ppo.get_weights()["ppo/policy/network/body/0/weight"] != before).any()


def test_it_cannot_act_on_numpy():
    with pytest.raises(
        CapabilityError, match="body._evaluate has kernels for torch only: it cannot run on numpy"
    ):
        agent(acting="numpy")


@pytest.mark.parametrize("name", ["dqn", "ppo", "sac"])
@pytest.mark.parametrize("place", ["network_spec", "layer", "class", "preprocessing_spec"])
def test_a_module_in_the_place_of_a_network_is_answered_with_what_to_write(name, place):
    nn = pytest.importorskip("torch").nn
    module = nn.Linear if place == "class" else nn.Sequential(nn.Linear(4, 8))
    key, value, path = {
        "network_spec": ("network_spec", module, "network_spec"),
        "class": ("network_spec", module, "network_spec"),
        "layer": ("network_spec", [64, module], r"network_spec\[1\]"),
        "preprocessing_spec": ("preprocessing_spec", [module], r"preprocessing_spec\[0\]"),
    }[place]
    spaces = {"state_space": FloatBox(shape=(4,)), "action_space": IntBox(2)}
    said = rf"agent\.{path}: .*PyTorch module.*\[ModuleComponent\(module\)\], after from rlgraph.torch import Module"
    with pytest.raises(SpecError, match=said):
        Agent.from_spec({"type": name, key: value}, **spaces, backend="numpy")


def test_a_keras_model_likewise():
    layer = type("Layer", (), {"__module__": "keras.src.layers.layer"})  # importing Keras takes seconds
    spec = {"type": "ppo", "network_spec": type("Sequential", (layer,), {})()}
    with pytest.raises(
        SpecError, match="given the Keras layer Sequential.*from rlgraph.tf import ModuleComponent"
    ):
        Agent.from_spec(spec, state_space=FloatBox(shape=(4,)), action_space=IntBox(2), backend="numpy")
