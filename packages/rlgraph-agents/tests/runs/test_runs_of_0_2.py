"""Runs of version 0.2 whose options have another meaning now: they load, act as they did, and learn as they did."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.sac import SAC
from rlgraph.core import CheckpointError
from rlgraph.learning import agent_storage
from rlgraph.spaces import FloatBox, IntBox

STATES, MOVES = FloatBox(shape=(3,)), FloatBox(-2.0, 2.0, shape=(2,))
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


def test_far_actions_are_not_taken_over_by_critics_that_see_them_scaled(far):
    """Also where a plug-in of 0.2 has no option for it; and a policy may be taken over."""
    kind, checkpoint = (
        json.loads((far / "config.json").read_text())["run"]["agent"]["type"],
        far / "checkpoints" / "last",
    )
    layers = [{"type": "dense", "units": 4, "activation": "tanh"}]
    spec = {"type": kind, "network_spec": layers, "memory_spec": {"capacity": 64}}
    spec |= {"state_space": FloatBox(-2.0, 2.0, shape=(3,)), "backend": "torch"}
    bounds = FloatBox(1000.0, 1001.0, shape=(2,))
    agent = Agent.from_spec({**spec, "action_space": bounds})
    for load in (agent.load_model, agent.load_weights):
        with pytest.raises(
            CheckpointError, match=f"{kind}/critic-[01].* saw actions as the environment takes"
        ):
            load(checkpoint)
    agent.load_weights(checkpoint, only=f"{kind}/policy")
    Agent.from_spec({**spec, "action_space": bounds, "scale_actions": False}).load_model(checkpoint)
    # With bounds of -1..1 nothing differs.
    Agent.from_spec({**spec, "action_space": FloatBox(-1.0, 1.0, shape=(2,))}).load_model(checkpoint)


@pytest.mark.parametrize("rewards", ["icm", {"type": "icm", "beta": 0.5}, "rnd", None])
def test_intrinsic_rewards_of_0_2(rewards):
    meant = PPO.as_it_meant({"type": "ppo", "intrinsic_reward": rewards}, 1)["intrinsic_reward"]
    if rewards is None:
        assert meant is None
        return
    given = {"type": rewards} if isinstance(rewards, str) else rewards
    scaled = {"scale_actions": False} if given["type"] == "icm" else {}
    assert meant == {**given, "epsilon": 1e-8, **scaled}
    Agent.from_spec("ppo", state_space=STATES, action_space=MOVES, intrinsic_reward=meant, backend="numpy")


@pytest.mark.parametrize("older", [True, False])
def test_critics_of_categories(older):
    """Up to 0.2 they had the layers of the policy, whatever `value_network_spec` said."""
    spec = {"type": "sac", "network_spec": [3], "value_network_spec": [5]}
    spec = {**spec, **SAC.as_it_meant(spec, 1)} if older else spec
    agent = Agent.from_spec({**spec, "state_space": STATES, "action_space": IntBox(2), "backend": "numpy"})
    assert agent.get_weights()["sac/critic-0/network/dense-0/biases"].shape == (3 if older else 5,)


def test_normalized_states_keep_their_smallest_deviation():
    agent = Agent.load(RUNS / "ppo_normalized_states")
    recorded = json.loads((RUNS / "ppo_normalized_states" / "recorded.json").read_text())
    actions = agent.get_actions(np.array(recorded["states"], np.float32), False)
    np.testing.assert_allclose(actions, recorded["actions"], rtol=1e-5, atol=1e-6)
    assert agent.learner.statistics.counters()["states/"]["epsilon"] == 1e-8


BOARD = IntBox(0, 10, shape=(4,), dtype="uint8")
BY_255 = [{"type": "divide", "divisor": 255.0}, {"type": "dense", "units": 4}]


def dqn(states, network_spec):
    spec = {"type": "dqn", "memory_spec": {"capacity": 8}, "network_spec": network_spec, "backend": "numpy"}
    return Agent.from_spec(spec, state_space=states, action_space=IntBox(3))


@pytest.fixture
def older(tmp_path, monkeypatch):
    """Writes a checkpoint alone, as version 0.2 did; only this has no layers where the agent was given none."""

    def store(states, network_spec):
        monkeypatch.setattr(agent_storage, "MEANING", 1)
        return dqn(states, network_spec).store_model(tmp_path / "model")

    return store


@pytest.mark.parametrize("layers", [None, [4]])
def test_default_layers_that_scaled_otherwise_are_refused(older, layers):
    checkpoint = older(BOARD, layers)
    agent = dqn(BOARD, layers)
    for load in (agent.load_model, agent.load_weights, Agent.load):
        with pytest.raises(CheckpointError, match='divided all uint8 states by 255.*"divisor": 255.0'):
            load(checkpoint)


@pytest.mark.parametrize(
    ("states", "layers"),
    [
        (BOARD, BY_255),
        (IntBox(0, 256, shape=(4,), dtype="uint8"), [4]),
        (IntBox(0, 10, shape=(4,)), [4]),
        (FloatBox(shape=(4,)), None),
    ],
)
def test_layers_that_scale_as_they_did_are_loaded(older, states, layers):
    checkpoint = older(states, layers)
    batch = states.with_batch_rank().sample(5, rng=np.random.default_rng(0))
    actions = [dqn(states, layers), Agent.load(checkpoint)]
    actions[0].load_model(checkpoint)
    np.testing.assert_array_equal(*(agent.get_actions(batch, False) for agent in actions))
