"""Bounds of actions that mean none, and bounds that leave no choice: refused when the agent is made, or they work."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, FloatBox

LARGEST = float(np.finfo(np.float32).max)
STATES = FloatBox(-1.0, 1.0, shape=(3,))
POLICIES, CRITICS = ["ppo", "a2c", "impala", "bc"], ["sac", "td3", "iql"]
#: Bounds whose difference, or half of it, float32 cannot hold, or that it cannot hold themselves.
MEAN_NONE = {
    "largest": FloatBox(-LARGEST, LARGEST, shape=(2,)),
    "2e38": FloatBox(-2e38, 2e38, shape=(2,)),
    "1.6e38": FloatBox(-1.6e38, 1.6e38, shape=(2,)),
    "one element": FloatBox([-1.0, -2e38], [1.0, 2e38]),
    "one bound": FloatBox(-2e38, 0.0, shape=(2,)),
    "half bounded": FloatBox(-2e38, None, shape=(2,)),
    "float64": FloatBox(-1e100, 1e100, shape=(2,), dtype="float64"),
    "part": Dict(a=FloatBox(-1.0, 1.0), b=FloatBox(-2e38, 2e38)),
}
SAME = {
    "all": (FloatBox(2.0, 2.0, shape=(2,)), r"element \[0\]"),
    "one element": (FloatBox([-1.0, 3.0], [1.0, 3.0]), r"element \[1\]"),
    "scalar": (FloatBox(2.0, 2.0), "given the same in FloatBox"),
    "part": (Dict(a=FloatBox(-1.0, 1.0), b=FloatBox(2.0, 2.0)), "part 'b'"),
}


def make(kind, actions, backend="numpy", dtype="float32"):
    spec = {"type": kind, "seed": 1, "execution_spec": {"dtype": dtype, "threads": 1}}
    if kind != "random":
        spec["network_spec"] = [{"type": "dense", "units": 4}]
    if kind in ("sac", "td3"):
        spec |= {"memory_spec": {"capacity": 50}, "update_spec": {"batch_size": 8, "update_interval": 4}}
    environment = {"type": "random", "state_space": STATES.to_spec(), "action_space": actions.to_spec()}
    return Agent.from_spec(spec, env=environment, backend=backend)


@pytest.mark.parametrize("name", MEAN_NONE)
@pytest.mark.parametrize("kind", POLICIES + CRITICS)
def test_bounds_that_mean_none(kind, name):
    with pytest.raises(SpecError, match="action_space: expected .*bound") as caught:
        make(kind, MEAN_NONE[name])
    if kind in POLICIES or name != "half bounded":
        assert "overflows float32. Wrap the environment" in str(caught.value)
    assert ("in part 'b'" in str(caught.value)) == (name == "part")


@pytest.mark.parametrize("kind", [*POLICIES, *CRITICS])
def test_bounds_that_mean_none_in_float64(kind):
    with pytest.raises(SpecError, match="action_space: expected bounds between .* overflows float64"):
        make(kind, FloatBox(-1.7e308, 1.7e308, dtype="float64"), dtype="float64")
    large = FloatBox(-1e70, 1e70, dtype="float64")
    assert np.isfinite(make(kind, large, dtype="float64").get_actions(np.zeros((3, 3)))).all()


@pytest.mark.parametrize(
    ("kind", "size"), [(kind, 8e37) for kind in POLICIES] + [(kind, 2e9) for kind in CRITICS]
)
def test_large_bounds_that_do_not(kind, size):
    agent = make(kind, FloatBox(-size, size, shape=(2,)))
    for explores in (True, False):
        actions = agent.get_actions(STATES.with_batch_rank().sample(50), explores)
        assert np.isfinite(actions).all() and np.abs(actions).max() <= size * 1.000001


@pytest.mark.parametrize(("kind", "size"), [("ppo", 8e37), ("sac", 2e9), ("td3", 2e9)])
def test_agents_learn_with_large_bounds(kind, size, backend):
    agent = make(kind, FloatBox(-size, size, shape=(2,)), backend)
    before = agent.get_weights()
    for _ in range(3):
        agent.update(transitions(size, 2, sequence=kind == "ppo"))
    after = agent.get_weights()
    assert all(np.isfinite(value).all() for value in after.values())
    # Adam divides by the root of squared gradients: where these are infinite, it stands still.
    learned = [
        name for name in after if name.startswith("ppo/policy" if kind == "ppo" else f"{kind}/critic-0")
    ]
    assert learned and all((after[name] != before[name]).any() for name in learned)


def transitions(size, width, sequence):
    """32 transitions, or a rollout of as many steps, with actions of up to `size`."""
    rng, rows = np.random.default_rng(3), (32, 1) if sequence else (32,)
    batch = {
        "states": rng.uniform(-1, 1, (*rows, 3)).astype(np.float32),
        "actions": rng.uniform(-0.9 * size, 0.9 * size, (*rows, width)).astype(np.float32),
        "rewards": rng.normal(size=rows).astype(np.float32),
        "terminals": np.zeros(rows, bool),
        "next_states": rng.uniform(-1, 1, (*rows, 3)).astype(np.float32),
    }
    return {**batch, "truncations": np.zeros(rows, bool)} if sequence else batch


@pytest.mark.parametrize("kind", CRITICS)
def test_critics_take_no_actions_whose_squared_gradients_are_infinite(kind):
    with pytest.raises(SpecError, match=r"action_space: expected bounds between -3e\+09 and 3e\+09"):
        make(kind, FloatBox(-1e12, 1e12, shape=(2,)))


def test_random_actions_have_any_bounds():
    for name in ("largest", "2e38", "one element"):
        actions = make("random", MEAN_NONE[name]).get_actions(np.zeros((50, 3), np.float32))
        assert np.isfinite(actions).all() and np.abs(actions[:, 1]).max() > 1e37
    with pytest.raises(SpecError, match="action_space: expected bounds"):
        make("random", MEAN_NONE["float64"])


# No choice.


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("kind", [*POLICIES, "sac", "iql"])
def test_bounds_without_a_choice(kind, name):
    actions, said = SAME[name]
    with pytest.raises(
        SpecError, match=rf"action_space.*: expected low < high in every element.*{said}|{said}.*low < high"
    ):
        make(kind, actions)


@pytest.mark.parametrize("kind", ["td3", "random"])
def test_a_constant_action(kind, backend):
    agent = make(kind, SAME["one element"][0], backend)
    agent.learn(24)
    for explores in (True, False):
        actions = agent.get_actions(STATES.with_batch_rank().sample(20), explores)
        assert (actions[:, 1] == 3.0).all() and (np.abs(actions[:, 0]) <= 1.0).all()
    if kind == "td3":
        assert agent.updates and all(np.isfinite(value).all() for value in agent.get_weights().values())
