"""An agent without a network_spec acts and learns on states of every kind, or says what to give."""

import numpy as np
import pytest

from rlgraph.agents.default_network import default_network
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox, Tuple

DENSE = ["dense", "dense"]
CONVOLUTIONS = ["conv2d", "conv2d", "conv2d", "reshape", "dense"]
KINDS = [
    (FloatBox(shape=(4,)), DENSE),
    (FloatBox(), ["reshape", *DENSE]),
    (FloatBox(shape=(2, 3)), ["reshape", *DENSE]),
    (IntBox(16), ["reshape", *DENSE]),
    (IntBox(0, None), ["reshape", "convert_type", *DENSE]),
    (IntBox(low=(0, 0), high=(4, 7), shape=(2,)), ["convert_type", *DENSE]),
    (BoolBox(shape=(3,)), ["convert_type", *DENSE]),
    (BoolBox(), ["reshape", "convert_type", *DENSE]),
    (IntBox(256, shape=(4, 4, 3), dtype="uint8"), ["divide", "reshape", *DENSE]),
    (IntBox(256, shape=(36, 36, 2), dtype="uint8"), ["divide", *CONVOLUTIONS]),
    (FloatBox(0.0, 1.0, shape=(36, 40, 1)), CONVOLUTIONS),
    (FloatBox(shape=(35, 40, 1)), ["reshape", *DENSE]),
    (
        Dict(clock=IntBox(5), place=Tuple(FloatBox(shape=(2,)), BoolBox())),
        ["reshape", "convert_type", "concat", *DENSE],
    ),
]


@pytest.mark.parametrize(("space", "layers"), KINDS, ids=[repr(space) for space, _ in KINDS])
def test_it_suits_the_states(make_agent, one_backend, space, layers):
    assert [layer["type"] for layer in default_network(space)] == layers
    agent = make_agent(
        one_backend, network_spec=None, state_space=space, update_spec={"batch_size": 2}, seed=1
    )
    states = space.with_batch_rank().sample(3, rng=np.random.default_rng(0))
    actions = agent.get_actions(states, use_exploration=False)
    agent.observe(states, actions, np.ones(3), np.zeros(3, bool), states, batched=True)
    assert np.isfinite(agent.update()["loss"])


def test_a_category_is_one_hot(make_agent):
    agent = make_agent("numpy", network_spec=None, state_space=IntBox(16))
    assert agent.get_weights()["dqn/policy/network/dense-1/weights"].shape == (16, 64)


def test_it_is_for_what_the_preprocessor_makes_of_states(make_agent):
    agent = make_agent(
        "numpy",
        network_spec=None,
        state_space=IntBox(5),
        preprocessing_spec=[{"type": "convert_type", "to_dtype": "float"}],
    )
    assert agent.get_weights()["dqn/policy/network/dense-1/weights"].shape == (1, 64)


@pytest.mark.parametrize(
    ("space", "named"),
    [
        (TextBox(), "TextBox"),
        (Dict(camera=IntBox(256, shape=(40, 40, 3), dtype="uint8"), speed=float), "'camera'"),
    ],
)
def test_states_without_a_default(make_agent, space, named):
    with pytest.raises(
        SpecError, match=f"agent.network_spec: there is no default network for states .*{named}"
    ):
        make_agent("numpy", network_spec=None, state_space=space)
