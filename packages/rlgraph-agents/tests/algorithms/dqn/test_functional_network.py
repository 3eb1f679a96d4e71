"""DQN on states of several parts, by a network of layers in any order."""

import numpy as np

from rlgraph.agents import DQNAgent
from rlgraph.components import Concat, Conv2D, Dense, NeuralNetwork, Reshape
from rlgraph.spaces import Dict, FloatBox, IntBox

STATES = Dict(image=FloatBox(shape=(4, 4, 1)), order=IntBox(3))


def network():
    states = STATES.with_batch_rank()
    pixels = Reshape(flatten=True)(Conv2D(2, 2, scope="eye")(states["image"]))
    both = Concat()(pixels, Reshape(flatten=True)(states["order"]))
    return NeuralNetwork(inputs=states, outputs=Dense(8, "relu")(both))


def test_it_acts_and_learns(one_backend):
    agent = DQNAgent(STATES, IntBox(2), network_spec=network(), backend=one_backend, seed=1)
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
