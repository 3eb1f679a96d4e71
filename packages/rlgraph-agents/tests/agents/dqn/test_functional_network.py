"""DQN on states of several parts, by a network of layers in any order."""

import numpy as np

from rlgraph.agents import DQNAgent
from rlgraph.spaces import Dict, FloatBox, IntBox

STATES = Dict(image=FloatBox(shape=(4, 4, 1)), order=IntBox(3))
NETWORK = {
    "inputs": ["image", "order"],
    "layers": {
        "eye": {"type": "conv2d", "filters": 2, "kernel_size": 2, "inputs": "image"},
        "pixels": {"type": "reshape", "flatten": True, "inputs": "eye"},
        "words": {"type": "reshape", "flatten": True, "inputs": "order"},
        "both": {"type": "concat", "inputs": ["pixels", "words"]},
        "features": {"type": "dense", "units": 8, "activation": "relu", "inputs": "both"},
    },
    "outputs": "features",
}


def test_it_acts_and_learns(one_backend):
    agent = DQNAgent(STATES, IntBox(2), network_spec=NETWORK, backend=one_backend, seed=1)
    states, actions = STATES.sample(8, rng=np.random.default_rng(0)), np.zeros(8, "int64")
    assert agent.get_actions(states).shape == (8,)
    batch = {
        "states": states,
        "actions": actions,
        "rewards": np.ones(8, "float32"),
        "terminals": np.ones(8, bool),
        "next_states": states,
    }
    before = agent.get_weights()
    losses = [float(agent.update(batch)["loss"]) for _ in range(200)]
    assert losses[-1] < 0.1 * losses[0]
    changed = {name for name, weights in agent.get_weights().items() if np.any(weights != before[name])}
    assert any("network/eye" in name for name in changed)
