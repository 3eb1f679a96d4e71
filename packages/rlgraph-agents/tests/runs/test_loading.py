"""`Agent.load`: the agent of a run folder or a checkpoint, on any backend."""

import json

import numpy as np
import pytest

from rlgraph.agents import Agent, DQNAgent, PPOAgent
from rlgraph.components import Dense
from rlgraph.core import BuildWarning, CheckpointError, SpecError, allow_imports
from rlgraph.core.numpy.backend import NumpyBackend
from rlgraph.environments import make_environment
from rlgraph.experience.specs import UpdateSpec
from rlgraph.runs import train
from rlgraph.spaces import Dict, FloatBox, IntBox

NETWORK = [{"type": "dense", "units": 5, "activation": "tanh"}]


def same(loaded, agent):
    weights = agent.get_weights()
    assert loaded.get_weights().keys() == weights.keys()
    for name, value in loaded.get_weights().items():
        np.testing.assert_array_equal(value, weights[name])
    return True


@pytest.fixture
def stored(tmp_path):
    """Stores an agent on NumPy; gives it and the folder."""

    def store(spec, **arguments):
        agent = Agent.from_spec(spec, backend="numpy", seed=4, **arguments)
        agent.learner.steps = 17
        return agent, agent.store_model(tmp_path / "stored")

    return store


@pytest.mark.parametrize("kind", ["dqn", "ppo", "a2c"])
def test_a_checkpoint_knows_its_agent(stored, kind):
    agent, folder = stored({"type": kind, "network_spec": NETWORK, "discount": 0.5}, env="CartPole-v1")
    loaded = Agent.load(folder)
    assert type(loaded) is type(agent) and same(loaded, agent)
    assert (loaded.timesteps, loaded.seed, loaded.env_spec) == (17, 4, "CartPole-v1")
    states = np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32)
    np.testing.assert_array_equal(loaded.get_actions(states, False), agent.get_actions(states, False))
    assert len(loaded.evaluate(1).returns) == 1


def test_on_another_backend(stored, backend, execution):
    execution_spec = {"execution_spec": execution(backend)}
    agent, folder = stored({"type": "ppo", "network_spec": NETWORK, **execution_spec}, env="CartPole-v1")
    loaded = Agent.load(str(folder), backend=backend)
    assert loaded.executor.backend.name == backend and same(loaded, agent)


def test_spaces_and_models_are_kept(stored):
    spaces = {"state_space": Dict(a=FloatBox(-1.0, 2.0, shape=(3,)), b=IntBox(4)), "action_space": IntBox(5)}
    agent, folder = stored({"type": "dqn", "update_spec": UpdateSpec(batch_size=7)}, **spaces)
    loaded = DQNAgent.load(folder)
    assert (loaded.state_space, loaded.action_space) == (spaces["state_space"], spaces["action_space"])
    assert (
        loaded.learner.experience.updates.batch_size == 7 and loaded.env_spec is None and same(loaded, agent)
    )


def test_constructors_give_their_spec_too(tmp_path):
    agent = DQNAgent(FloatBox(shape=(3,)), IntBox(2), network_spec=NETWORK, backend="numpy")
    assert same(Agent.load(agent.store_model(tmp_path / "stored")), agent)


def test_an_environment_that_is_an_object_is_left_out(stored):
    agent, folder = stored({"type": "dqn", "network_spec": NETWORK}, env=make_environment("CartPole-v1"))
    loaded = Agent.load(folder)
    assert loaded.env_spec is None and same(loaded, agent)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("policy", "timesteps"), [("last", 24), ("best", 5)])
def test_a_run(tmp_path, backend, execution, policy, timesteps):
    agent = {
        "type": "ppo",
        "rollout_length": 4,
        "network_spec": NETWORK,
        "execution_spec": execution(backend),
    }
    run = {"agent": agent, "environment": "CartPole-v1", "backend": backend, "steps": 24}
    folder = tmp_path / "run"
    evaluation = {"interval": 8, "episodes": 1, "final_episodes": 1, "policy": policy}
    train({**run, "evaluation": evaluation}, folder)
    other = Agent.load(folder / "checkpoints" / "last", backend="numpy")
    other.learner.steps = 5
    other.store_model(folder / "checkpoints" / "best")
    loaded = Agent.load(folder)
    assert (loaded.timesteps, loaded.executor.backend.name) == (timesteps, backend)
    assert Agent.load(folder, backend="numpy").executor.backend.name == "numpy"


def test_devices_may_be_missing(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(NumpyBackend, "devices", frozenset({"cpu", "gpu:0"}))
    placed = {"execution_spec": {"device_map": {"agent": "gpu:0"}}}
    agent, folder = stored({"type": "ppo", "network_spec": NETWORK, **placed}, env="CartPole-v1")
    run = {
        "agent": {"type": "random", **placed},
        "environment": "CartPole-v1",
        "backend": "numpy",
        "steps": 4,
    }
    train({**run, "evaluation": {"episodes": 1, "final_episodes": 1}}, tmp_path / "run")
    assert {group.device for group in Agent.load(folder).executor.built.layout.groups.values()} == {"gpu:0"}
    monkeypatch.setattr(NumpyBackend, "devices", frozenset({"cpu"}))
    missing = "were to be on device 'gpu:0', which the numpy backend does not have here"
    with pytest.warns(BuildWarning, match=missing):
        assert same(Agent.load(folder), agent)
    with pytest.warns(BuildWarning, match=missing):
        Agent.load(tmp_path / "run")


# Mistakes.


def test_neither_a_run_nor_a_checkpoint(tmp_path):
    for path, end in ((tmp_path, "has neither"), (tmp_path / "nothing", "does not exist")):
        with pytest.raises(CheckpointError) as caught:
            Agent.load(path)
        assert str(caught.value) == (
            "expected a run folder, which has a config.json, or a checkpoint, which has a manifest.json; "
            f"{path} {end}"
        )


def test_another_kind_of_agent(stored):
    _, folder = stored({"type": "dqn", "network_spec": NETWORK}, env="CartPole-v1")
    with pytest.raises(SpecError, match="expected a PPOAgent, found a DQNAgent"):
        PPOAgent.load(folder)


def test_an_agent_without_a_spec(stored):
    _, folder = stored({"type": "dqn", "network_spec": [Dense(3)]}, env="CartPole-v1")
    with pytest.raises(CheckpointError, match="does not know its agent's spec.*call its load_model"):
        Agent.load(folder)
    assert json.loads((folder / "manifest.json").read_text())["facts"]["agent"] is None


def test_checkpoints_import_nothing_unasked(stored):
    env = {"type": "rlgraph.environments.worlds.deterministic_env:DeterministicEnv"}
    _, folder = stored({"type": "dqn", "network_spec": NETWORK}, env=env)
    with pytest.raises(SpecError, match="allow_imports"):
        Agent.load(folder)
    with allow_imports("rlgraph.environments"):
        assert Agent.load(folder).env_spec == env
