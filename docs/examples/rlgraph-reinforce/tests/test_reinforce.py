"""One update against numbers by hand: NumPy and the formulas, without the library; and the conformance suite."""

import numpy as np

from rlgraph.agents.conformance import AgentConformance
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest, on_all_backends
from rlgraph_reinforce import Reinforce

STATE = FloatBox(shape=(2,))
RECORDS = Dict(
    observations=Dict(states=STATE),
    next_observations=Dict(states=STATE),
    actions=IntBox(3),
    rewards=float,
    terminals=bool,
    ends=bool,
    weights=float,
    add_batch_rank=True,
    add_time_rank=True,
    time_major=True,
)
LINEAR = [
    {"type": "reshape", "flatten": True}
]  # the layer after it, of the policy and of the baseline, is linear
POLICY_LAYER, BASELINE_LAYER = (
    "policy/action-adapter/action-layer",
    "value-function/value-layer",
)
DISCOUNT, LEARNING_RATE = 0.5, 0.1


def rollout():
    """Four steps ``[T]`` of one environment: an episode of two, one that is cut after one, and a row of weight 0."""
    rng = np.random.default_rng(3)
    return {
        "observations": {"states": rng.normal(size=(4, 2))},
        "next_observations": {"states": rng.normal(size=(4, 2))},
        "actions": np.array([2, 0, 1, 1]),
        "rewards": np.array([1.0, 3.0, -1.0, 7.0]),
        "terminals": np.array([False, True, False, False]),
        "ends": np.array([False, True, True, True]),
        "weights": np.array([1.0, 1.0, 1.0, 0.0]),
    }


def in_one_column(records):
    """``[T, ...]`` -> ``[T, 1, ...]``."""
    return {
        name: in_one_column(part) if isinstance(part, dict) else part[:, None]
        for name, part in records.items()
    }


@on_all_backends("gradients")
def test_update(backend):
    spec = {"type": "sgd", "learning_rate": LEARNING_RATE}
    algorithm = Reinforce(
        STATE, IntBox(3), discount=DISCOUNT, network_spec=LINEAR, optimizer_spec=spec
    )
    test = ComponentTest(
        algorithm,
        {"records": RECORDS},
        action_space=IntBox(3),
        backend=backend,
        execution_spec={"dtype": "float64"},
    )
    before = test.read_variable_values()
    weights, baseline_weights = (
        before[f"{part}/weights"].copy() for part in (POLICY_LAYER, BASELINE_LAYER)
    )
    records = rollout()
    results = test.test(("update", [in_one_column(records)]))

    # The returns: of the episode that ended, and of the one that was cut, whose rest the baseline estimates.
    x, x_next = (
        records["observations"]["states"],
        records["next_observations"]["states"],
    )
    rest = (x_next[2] @ baseline_weights)[0]
    returns = np.array([1.0 + DISCOUNT * 3.0, 3.0, -1.0 + DISCOUNT * rest])
    x, taken = x[:3], np.eye(3)[records["actions"][:3]]
    errors = returns - (x @ baseline_weights)[:, 0]
    exponentials = np.exp(x @ weights)
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    policy_loss = -np.mean(errors * np.log((probabilities * taken).sum(axis=1)))
    baseline_loss = np.mean(errors**2)
    np.testing.assert_allclose(results["policy_loss"], policy_loss)
    np.testing.assert_allclose(results["baseline_loss"], baseline_loss)
    np.testing.assert_allclose(results["loss"], policy_loss + baseline_loss)

    # One step of gradient descent: grad log pi = x (1 - pi), grad v = x.
    after = test.read_variable_values()
    step = LEARNING_RATE / 3 * x.T @ (errors[:, None] * (taken - probabilities))
    np.testing.assert_allclose(after[f"{POLICY_LAYER}/weights"], weights + step)
    step = LEARNING_RATE / 3 * 2 * x.T @ errors[:, None]
    np.testing.assert_allclose(
        after[f"{BASELINE_LAYER}/weights"], baseline_weights + step
    )


class TestReinforce(AgentConformance):
    agent, backend = Reinforce, "torch"
