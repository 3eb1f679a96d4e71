"""An agent without a network_spec acts and learns on states of every kind, or says what to give."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.algorithms.default_network import default_network, network_for
from rlgraph.components import GRU, Dense
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, TextBox, Tuple

DENSE = ["dense", "dense"]
SMALL = ["conv2d", "reshape", "dense"]
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
    (FloatBox(shape=(35, 40, 1)), SMALL),
    (IntBox(256, shape=(5, 7, 3), dtype="uint8"), ["divide", *SMALL]),
    (IntBox(5, shape=(5, 5, 1)), ["normalize", *SMALL]),
    (FloatBox(0.0, 255.0, shape=(5, 5, 1)), ["normalize", *SMALL]),
    (BoolBox(shape=(10, 10, 4)), ["convert_type", *SMALL]),
    (IntBox(2, shape=(8,), dtype="uint8"), ["convert_type", *DENSE]),
    (IntBox(2, shape=(10, 10, 4), dtype="uint8"), ["convert_type", *SMALL]),
    (IntBox(10, shape=(9,), dtype="uint8"), ["normalize", *DENSE]),
    (IntBox(dtype="uint8", shape=(9,)), ["divide", *DENSE]),
    (IntBox(6, dtype="uint8"), ["reshape", *DENSE]),
    (IntBox(6, dtype="int16"), ["reshape", *DENSE]),
    (IntBox(256, dtype="uint8"), ["divide", "reshape", *DENSE]),
    (IntBox(low=(0, 3), high=(256, 9), shape=(2,), dtype="uint8"), ["normalize", *DENSE]),
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


#: Agents with a network -> the first part of the names of what acts.
WITH_NETWORKS = {
    **dict.fromkeys(["dqn", "c51", "qr_dqn", "rainbow", "apex", "dqfd"], IntBox(8)),
    **dict.fromkeys(["ppo", "a2c", "impala", "bc"], FloatBox(shape=(2,))),
    **dict.fromkeys(["sac", "td3", "iql"], FloatBox(-1.0, 1.0, shape=(2,))),
}
BOARDS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)


def same_actions(kind, backend, layers, dtype):
    """Whether an agent acts alike on all boards of 8 bits of a dtype and of floats."""
    spaces = {
        dtype: IntBox(2, shape=(8,), dtype=dtype),
        "float32": FloatBox(0.0, 1.0, shape=(8,)),
    }
    agents = [
        Agent.from_spec(
            {"type": kind, "network_spec": layers},
            state_space=space,
            action_space=WITH_NETWORKS[kind],
            backend=backend,
        )
        for space in spaces.values()
    ]
    weights = [
        {name: value for name, value in agent.get_weights().items() if "/policy/" in name} for agent in agents
    ]
    assert [x.shape for x in weights[0].values()] == [x.shape for x in weights[1].values()]
    agents[1].set_weights(dict(zip(weights[1], weights[0].values(), strict=True)))
    actions = [
        agent.get_actions(BOARDS.astype(kind_), use_exploration=False)
        for agent, kind_ in zip(agents, spaces, strict=True)
    ]
    assert len(np.unique(actions[0], axis=0)) > 1
    np.testing.assert_allclose(*actions, atol=1e-6)


@pytest.mark.parametrize("kind", WITH_NETWORKS)
def test_bits_are_as_floats(kind, one_backend):
    same_actions(kind, one_backend, None, "uint8")


@pytest.mark.parametrize(("kind", "dtype"), [("ppo", "uint8"), ("dqn", "int32")])
def test_bits_are_as_floats_on_every_backend(kind, dtype, backend):
    same_actions(kind, backend, [16], dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
def test_pictures_of_every_dtype_are_the_same(dtype):
    shape, high = (6, 6, 1), {"float32": 255.0}.get(dtype, 256)
    spaces = {
        dtype: FloatBox(0.0, high, shape=shape) if dtype == "float32" else IntBox(0, high, shape, dtype)
    }
    spaces["uint8"] = IntBox(256, shape=shape, dtype="uint8")
    picture = np.random.default_rng(0).integers(0, 256, (3, *shape))
    actions = [
        Agent.from_spec(
            "ppo", state_space=space, action_space=FloatBox(), backend="numpy", seed=1
        ).get_actions(picture.astype(name), use_exploration=False)
        for name, space in spaces.items()
    ]
    for found in actions:
        np.testing.assert_array_equal(found, actions[-1])


def test_a_board_of_bytes_is_learned(one_backend, execution):
    """One of 8 fields is 1; its number is the best action, worth 1. Random actions are worth 1/8."""
    rng = np.random.default_rng(0)
    agent = Agent.from_spec(
        {"type": "ppo", "rollout_length": 32, "num_epochs": 4, "num_minibatches": 4, "discount": 0.0},
        optimizer_spec={"type": "adam", "learning_rate": 1e-2},
        state_space=IntBox(2, shape=(8,), dtype="uint8"),
        action_space=IntBox(8),
        backend=one_backend,
        execution_spec=execution(one_backend),
        seed=1,
    )
    boards, ends = np.eye(8, dtype=np.uint8), np.ones(16, bool)
    for _ in range(160):
        fields = rng.integers(8, size=16)
        actions = agent.get_actions(boards[fields])
        rewards = (actions == fields).astype(np.float32)
        agent.observe(boards[fields], actions, rewards, ends, boards[fields], batched=True)
        agent.update_if_due()
    np.testing.assert_array_equal(agent.get_actions(boards, use_exploration=False), np.arange(8))


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


CAMERA = IntBox(256, shape=(40, 40, 3), dtype="uint8")
NESTED = Dict(
    camera=IntBox(256, shape=(6, 6, 1), dtype="uint8"),
    gear=IntBox(5),
    body=Tuple(FloatBox(shape=(2,)), BoolBox(), Dict(map=FloatBox(shape=(5, 5, 2)))),
)


def test_parts_have_networks_of_their_own():
    first, *dense = default_network(NESTED)
    assert [layer["type"] for layer in dense] == DENSE
    parts = first["input_network_specs"]
    assert [layer["type"] for layer in parts["camera"]] == ["divide", *SMALL]
    assert [layer["type"] for layer in parts["gear"]] == ["reshape"]
    (body,) = parts["body"]
    vector, flag, inner = body["input_network_specs"]
    assert vector is None
    assert [layer["type"] for layer in flag] == ["reshape", "convert_type"]
    assert [layer["type"] for layer in inner[0]["input_network_specs"]["map"]] == SMALL


@pytest.mark.parametrize("kind", ["dqn", "ppo", "a2c", "sac"])
@pytest.mark.parametrize(
    "layers", [None, [8], [8, {"type": "lstm", "units": 4}]], ids=["none", "dense", "lstm"]
)
def test_every_algorithm_takes_nested_states(kind, layers):
    spec = {"type": kind, "network_spec": layers}
    agent = Agent.from_spec(spec, state_space=NESTED, action_space=IntBox(3), backend="numpy")
    states = NESTED.with_batch_rank().sample(2, rng=np.random.default_rng(0))
    assert agent.get_actions(states).shape == (2,)
    # 128 of each of two pictures, 5 gears, 2 floats and a bool.
    sizes = [
        x.shape[0] for name, x in agent.get_weights().items() if "policy/network" in name and x.ndim == 2
    ]
    assert 128 + 5 + (2 + 1 + 128) in sizes


def test_each_part_counts():
    agent = Agent.from_spec("ppo", state_space=NESTED, action_space=FloatBox(), backend="numpy", seed=1)
    space = NESTED.with_batch_rank()
    state, other = (space.sample(1, rng=np.random.default_rng(seed)) for seed in (0, 6))
    changed, others = space.flatten_sample(state), space.flatten_sample(other)
    before = agent.get_actions(state, use_exploration=False)
    for path, value in others.items():
        assert not np.array_equal(value, changed[path]), path
        with_it = space.unflatten_sample({**changed, path: value})
        assert agent.get_actions(with_it, use_exploration=False) != before, path


def test_layers_on_vectors_stay_as_they_are():
    assert network_for(FloatBox(shape=(4,)), [8]) == [8]
    assert network_for(FloatBox(shape=(2, 4)), [8]) == [{"type": "reshape", "flatten": True}, 8]
    own = [{"type": "reshape", "flatten": True}, 8]
    assert network_for(IntBox(4), own) is own
    given = {"type": "multi_input_stream_network"}
    assert network_for(NESTED, given) is given


class OwnGRU(GRU):
    """Of a plug-in."""


@pytest.mark.parametrize(
    "first",
    [
        8,
        {"type": "dense", "units": 8},
        {"type": "gru", "units": 8},
        Dense(8),
        OwnGRU(8),
        {"type": OwnGRU, "units": 8},
        {"type": "rlgraph.components.layers.noisy_dense:NoisyDense", "units": 8},
    ],
)
def test_layers_come_after_the_features(first):
    layers = network_for(IntBox(256, shape=(6, 6, 1), dtype="uint8"), [first, 4])
    assert [layer["type"] for layer in layers[:4]] == ["divide", *SMALL]
    assert layers[4:] == [first, 4]


def test_normalization_masks_and_frame_stacks(one_backend):
    camera = IntBox(256, shape=(6, 6, 1), dtype="uint8")
    states = Dict(camera=camera, speed=FloatBox(shape=(2,)), action_mask=BoolBox(shape=(3,)))
    agent = Agent.from_spec(
        {"type": "ppo", "rollout_length": 2, "num_epochs": 1, "num_minibatches": 1},
        state_space=states,
        action_space=IntBox(3),
        preprocessing_spec={"camera": [{"type": "sequence", "sequence_length": 2, "add_rank": False}]},
        normalize_states=["speed"],
        backend=one_backend,
    )
    space = states.with_batch_rank()
    for step in range(2):
        given = {**space.sample(2, rng=np.random.default_rng(step)), "action_mask": np.ones((2, 3), bool)}
        actions, seen = agent.get_actions(given, extra_returns="preprocessed_states")
        agent.observe(
            preprocessed_states=seen,
            actions=actions,
            rewards=np.ones(2),
            terminals=np.ones(2, bool),
            batched=True,
        )
    assert np.isfinite(agent.update()["loss"])
    assert "action_mask" not in agent.network


def test_it_says_what_it_chose(caplog):
    states = Dict(camera=IntBox(256, shape=(6, 6, 1), dtype="uint8"), speed=FloatBox(shape=(2,)))
    with caplog.at_level("INFO", logger="rlgraph"):
        agent = Agent.from_spec("ppo", state_space=states, action_space=IntBox(3), backend="numpy")
    assert [record.getMessage() for record in caplog.records] == [f"default network: {agent.network}"]
    assert (
        "input-camera (divide, conv2d 16, reshape, dense 128), concat), dense 64, dense 64" in agent.network
    )


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (TextBox(shape=(2,)), "texts with axes"),
        (Dict(camera=CAMERA, note=TextBox(shape=(2,))), "in part 'note': texts with axes"),
        (Dict(a=Tuple(float, Dict(b=FloatBox(shape=(0, 3))))), "in part 'a/1/b': states of size 0"),
        (FloatBox(shape=(0, 3, 3)), "states of size 0"),
        (IntBox(256, shape=(84, 84), dtype="uint8"), r"pictures that are not \[H, W, C\]"),
        (
            Dict(camera=IntBox(256, shape=(3, 84, 84), dtype="uint8")),
            "in part 'camera': pictures that are not",
        ),
        (IntBox(256, shape=(4, 84, 84, 1), dtype="uint8"), "preprocessing_spec"),
        (FloatBox(shape=(84, 84)), r"pictures that are not \[H, W, C\]"),
        (IntBox(0, 9, shape=(84, 84)), r"pictures that are not \[H, W, C\]"),
        (Dict(depth=FloatBox(shape=(3, 84, 84)), speed=FloatBox()), "in part 'depth': pictures that are not"),
        (BoolBox(shape=(12, 84, 84)), "pictures that are not"),
    ],
)
@pytest.mark.parametrize("layers", [None, [8]])
def test_states_without_a_default(space, said, layers):
    for make in (Agent.check_spec, Agent.from_spec):
        with pytest.raises(SpecError, match=f"network_spec: there is no default network for states .*{said}"):
            make({"type": "ppo", "network_spec": layers}, state_space=space, action_space=IntBox(2))
