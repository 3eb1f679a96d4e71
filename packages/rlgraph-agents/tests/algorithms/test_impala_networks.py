"""The networks of the paper fit the states of an agent, with and without text, and previous action and reward."""

import numpy as np
import pytest

from rlgraph.agents import Agent, IMPALAAgent
from rlgraph.algorithms.impala_networks import with_keys
from rlgraph.core import SpecError
from rlgraph.environments import RandomEnv
from rlgraph.spaces import Dict, FloatBox, IntBox, TextBox

PICTURE = IntBox(256, shape=(20, 20, 1), dtype="uint8")
STATES = {"picture": PICTURE, "instruction": Dict(image=PICTURE, instruction=TextBox(max_length=8))}
SIZES = {"units": 4, "image_units": 5}


def made(backend, states, **options):
    return Agent.from_spec(
        {"type": "impala", "rollout_length": 4, **options},
        env=lambda: RandomEnv(states, IntBox(3), seed=1),
        backend=backend,
        seed=1,
    )


@pytest.mark.parametrize("previous", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("states", STATES)
def test_the_large_network_trains(states, previous, one_backend):
    network = {"type": "large_impala_network", **SIZES}
    agent = made(one_backend, STATES[states], network_spec=network, previous_action_and_reward=previous)
    before = agent.get_weights()
    agent.learn(16, num_envs=2)
    after = agent.get_weights()
    core = "impala/policy/impala-network/core/weights"
    # The image; three actions and the reward; the text.
    assert after[core].shape[0] == 5 + 4 * previous + 64 * (states == "instruction")
    assert all(
        not np.array_equal(before[name], after[name])
        for name in before
        if name.startswith("impala/policy/impala-network") and name.endswith(("/weights", "/table"))
    )


def test_on_every_backend(backend):
    agent = made(
        backend,
        STATES["instruction"],
        network_spec={"type": "small_impala_network", **SIZES},
        previous_action_and_reward=True,
    )
    agent.learn(16, num_envs=2)
    assert agent.updates == 2


#: Filters of the convolutions outside residual units, and the units of the LSTM, of figure 3 of the paper.
OF_THE_PAPER = {"small": ([16, 32], 256), "large": ([16, 32, 32], 256)}


@pytest.mark.parametrize("size", OF_THE_PAPER)
def test_architecture(size, backend):
    agent = IMPALAAgent(
        architecture=size, state_space=PICTURE, action_space=IntBox(3), backend=backend, seed=1
    )
    named = made("numpy", PICTURE, network_spec=f"{size}_impala_network", value_network_spec="shared")
    layers, (filters, units) = agent.network.split(", "), OF_THE_PAPER[size]
    assert [int(layer.split()[1]) for layer in layers if layer.startswith("conv2d")] == filters
    assert layers[-1] == f"lstm {units}" and layers.count("residual") == 6 * (size == "large")
    assert agent.network == named.network
    weights, others = agent.get_weights(), named.get_weights()
    assert weights.keys() == others.keys() and all(np.array_equal(weights[n], others[n]) for n in weights)
    states = np.random.default_rng(1).integers(0, 256, (8, 20, 20, 1), "uint8")
    acted = [each.get_actions(states, use_exploration=False) for each in (agent, named)]
    np.testing.assert_array_equal(*acted)


@pytest.mark.parametrize("size", OF_THE_PAPER)
def test_an_architecture_replaces_network_spec(size):
    with pytest.raises(SpecError, match="architecture: expected architecture or network_spec"):
        made("numpy", PICTURE, architecture=size, network_spec=[4])


@pytest.mark.parametrize("given", ["huge", "Large", True, ""])
def test_other_architectures(given):
    with pytest.raises(
        SpecError, match="agent.architecture: expected one of 'small', 'large' or null, given"
    ):
        made("numpy", PICTURE, architecture=given)


def test_keys():
    text, speed = TextBox(), FloatBox(shape=(2,))
    own = Dict(frame=PICTURE, previous_action=IntBox(3), previous_reward=FloatBox())
    found = with_keys(own, "large_impala_network")
    assert (found["image_key"], found["text_key"]) == ("frame", None)
    assert found["previous_keys"] == ["previous_action", "previous_reward"]
    assert with_keys(own, found) == found
    seen = Dict(observation=Dict(frame=PICTURE, order=text), previous=FloatBox(shape=(4,)))
    found = with_keys(seen, {"type": "small_impala_network", "image_key": "frame"})
    assert found["image_key"] == "observation/frame" and found["text_key"] == "observation/order"
    for states, said in (
        (speed, "one of images"),
        (Dict(a=PICTURE, b=PICTURE), "given a, b .*choose one with image_key"),
        (Dict(a=PICTURE, b=text, c=text), "choose one with text_key"),
        (Dict(image=PICTURE, speed=speed), "would not see speed"),
    ):
        with pytest.raises(SpecError, match=said):
            with_keys(states, "small_impala_network")
