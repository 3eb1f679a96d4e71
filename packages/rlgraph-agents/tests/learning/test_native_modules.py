"""Agents whose network is a module of a framework."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import CapabilityError, CheckpointError, SpecError, allow_imports
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
    variables = dqn.executor.built.variables
    policy = [name for name in variables if name.startswith("dqn/policy/")]
    changed = {name for name in policy if (before[name] != after[name]).any()}
    trainable = {name for name in policy if variables[name].trainable}
    names = ("running_mean", "running_var", "num_batches_tracked")
    statistics = {f"dqn/policy/network/body/1/{name}" for name in names}
    assert changed == trainable | statistics
    assert not trainable & statistics


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
    said = "body._evaluate has kernels for torch only: it cannot run on numpy"
    with pytest.raises(CapabilityError, match=said):
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


LAYER = """
{framework}
from rlgraph.{backend} import ModuleComponent

class OwnLayer(ModuleComponent):
    def __init__(self, units: int = 6, scope: str = "own", **kwargs):
        super().__init__({module}, scope=scope, **kwargs)
"""
MODULES = {
    "torch": ("from torch import nn", "nn.Sequential(nn.Linear(4, units), nn.Tanh())"),
    "tf": ("import keras", 'keras.layers.Dense(units, activation="tanh")'),
}


def test_a_class_around_a_module_is_stored_and_loaded(backend, execution, tmp_path, monkeypatch):
    """By its import path: a checkpoint and a run folder have the name alone, and nothing is imported unasked."""
    name = f"own_{backend}_layer"
    framework, module = MODULES[backend]
    (tmp_path / f"{name}.py").write_text(LAYER.format(framework=framework, backend=backend, module=module))
    monkeypatch.syspath_prepend(tmp_path)
    spec = {"type": "ppo", "rollout_length": 8, "network_spec": [{"type": f"{name}.OwnLayer", "units": 5}, 4]}
    spec["execution_spec"] = execution(backend)
    agent = Agent.from_spec(spec, env="CartPole-v1", backend=backend, seed=3)
    run, stored = tmp_path / "run", tmp_path / "stored"
    with allow_imports(name):
        agent.learn(8, folder=run)
        agent.store_model(stored)
    states = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    for place in (run, stored):
        with pytest.raises(SpecError, match=f"Importing runs the code of '{name}'"):
            Agent.load(place)
        with allow_imports(name):
            again = Agent.load(place)
        np.testing.assert_array_equal(again.get_actions(states, False), agent.get_actions(states, False))
        for key, value in agent.get_weights().items():
            np.testing.assert_array_equal(again.get_weights()[key], value, err_msg=key)


def test_the_messages_show_the_way(tmp_path):
    """A module that is an object: what is stored cannot say how to make it."""
    dqn = agent()
    way = r'give a class by its import path, \{"type": "my_module.MyLayer"\}.*subclass of ModuleComponent'
    what = (
        r"folder: the agent \(network_spec\[0\]: .* JSON can hold, given a ModuleComponent\) has no JSON form"
    )
    with pytest.raises(SpecError, match=f"{what}.*{way}.*leave out folder="):
        dqn.learn(8, env="CartPole-v1", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(CheckpointError, match=f"call its load_model.*{way}"):
        Agent.load(dqn.store_model(tmp_path / "stored"))
