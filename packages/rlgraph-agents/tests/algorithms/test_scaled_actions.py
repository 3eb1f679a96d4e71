"""Critics see actions in -1..1, whatever their bounds are: what is learned does not depend on these."""

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.algorithms.sac import SAC
from rlgraph.spaces import FloatBox, Tuple

KINDS = ["sac", "td3", "iql"]
STATES = FloatBox(-1.0, 1.0, shape=(2,))
LAYERS = [{"type": "dense", "units": 4, "activation": "tanh"}]
UNIT = Tuple(FloatBox(-1.0, 1.0, shape=(2,)), FloatBox(-1.0, 1.0))
FAR = Tuple(FloatBox([1000.0, -0.01], [1001.0, 0.01]), FloatBox(-1000.0, 0.0))


@pytest.fixture
def make(execution):
    def make(kind, backend, actions, dtype="float64", **options):
        spec = {"type": kind, "network_spec": LAYERS, "seed": 3, **options}
        spec |= {"state_space": STATES, "action_space": actions}
        return Agent.from_spec(spec, backend=backend, execution_spec=execution(backend, dtype=dtype))

    return make


def stretched(parts, space):
    """Actions of `UNIT` as those of `space`."""
    boxes = [space[0], space[1]]
    return tuple(
        np.asarray(box.low) + (part + 1.0) / 2.0 * (np.asarray(box.high) - np.asarray(box.low))
        for part, box in zip(parts, boxes, strict=True)
    )


def records(space, rng):
    parts = rng.uniform(-0.9, 0.9, (8, 2)), rng.uniform(-0.9, 0.9, 8)
    return {
        "states": rng.uniform(-1.0, 1.0, (8, 2)),
        "actions": stretched(parts, space),
        "rewards": rng.normal(size=8),
        "terminals": np.arange(8) % 3 == 0,
        "next_states": rng.uniform(-1.0, 1.0, (8, 2)),
    }


def updated(agent, space, updates=3):
    """The weights of networks after some updates, and the entropy of the last one."""
    rng = np.random.default_rng(0)
    for _ in range(updates):
        numbers = agent.update(records(space, rng))
    weights = {
        name: value for name, value in agent.get_weights().items() if name.endswith(("/weights", "/biases"))
    }
    return {**weights, "entropy": numbers.get("entropy", 0.0)}


@pytest.mark.parametrize("kind", KINDS)
def test_learning_is_that_of_actions_in_minus_1_to_1(kind, backend, make):
    expected = updated(make(kind, backend, UNIT), UNIT)
    given = updated(make(kind, backend, FAR), FAR)
    for name, value in expected.items():
        np.testing.assert_allclose(given[name], value, rtol=1e-5, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_minus_1_to_1_change_no_bit(kind, one_backend, make):
    """Nothing is computed there, not even a product with 1."""
    results = [
        updated(make(kind, one_backend, UNIT, "float32", scale_actions=scaled), UNIT)
        for scaled in (True, False)
    ]
    for name, value in results[0].items():
        np.testing.assert_array_equal(value, results[1][name], err_msg=name)


@pytest.mark.parametrize("bounds", [(1000.0, 1001.0), (-0.01, 0.01), (-1000.0, 1000.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_one_step_whose_best_action_is_at_0_7_of_the_range(kind, bounds, one_backend, make):
    low, high = bounds
    agent = make(
        kind,
        one_backend,
        FloatBox(low, high, shape=(1,)),
        "float32",
        network_spec=[{"type": "dense", "units": 32, "activation": "relu"}] * 2,
        optimizer_spec={"learning_rate": 0.005 if kind == "td3" else 0.01},
        tau=0.05,
        **{
            "sac": {"initial_alpha": 0.1},
            "td3": {"policy_delay": 1},
            "iql": {"inverse_temperature": 7.5},
        }[kind],
    )
    rng = np.random.default_rng(0)
    states, ends = np.zeros((64, 2), np.float32), np.ones(64, bool)
    for i in range(200):
        actions = low + rng.random((64, 1)) * (high - low)
        if kind != "iql" and i >= 30:
            actions = agent.get_actions(states)
        rewards = -4.0 * ((actions[:, 0] - low) / (high - low) - 0.7) ** 2
        agent.update(
            {
                "states": states,
                "actions": actions.astype(np.float32),
                "rewards": rewards,
                "terminals": ends,
                "next_states": states,
            }
        )
    share = (float(agent.get_actions(states[0], False)[0]) - low) / (high - low)
    assert share == pytest.approx(0.7, abs=0.05)


def test_target_entropy_is_of_scaled_actions():
    for actions in (UNIT, FAR):
        assert SAC(STATES, actions).loss.target_entropy == pytest.approx(-3.0)
    old = SAC(STATES, FAR, scale_actions=False).loss.target_entropy
    assert old == pytest.approx(-3.0 + np.log(0.5) + np.log(0.01) + np.log(500.0))
