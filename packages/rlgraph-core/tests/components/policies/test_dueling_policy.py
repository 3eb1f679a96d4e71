import numpy as np
import pytest

from rlgraph.components import DuelingPolicy
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

STATES = {"observations": FloatBox(shape=(3,), add_batch_rank=True)}
NETWORK = [{"type": "dense", "units": 4, "activation": "relu"}]


def dense(x, w, scope):
    return x @ w[f"{scope}/weights"] + w[f"{scope}/biases"]


def q_values(value, advantages):
    """Wang et al. (2016), eq. 9."""
    result = np.empty_like(advantages)
    for b, row in enumerate(advantages):
        for a, advantage in enumerate(row):
            result[b, a] = value[b, 0] + advantage - sum(row) / len(row)
    return result


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("units", [0, 8])
def test_values_and_actions(units, batch, backend):
    policy = DuelingPolicy(NETWORK, IntBox(4), units_state_value_stream=units, activation="tanh")
    test = ComponentTest(policy, STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(1).normal(size=(batch, 3)).astype(np.float32)
    features = np.maximum(dense(x, w, "network/dense-0"), 0.0)
    value_features = advantage_features = features
    if units:
        value_features = np.tanh(dense(features, w, "value-hidden"))
        advantage_features = np.tanh(dense(features, w, "advantages-hidden"))
        assert w["value-hidden/weights"].shape == (4, units)
    else:
        assert not any("hidden" in name for name in w)
    q = q_values(dense(value_features, w, "value"), dense(advantage_features, w, "advantages"))
    test.test(("get_q_values", [x]), which="q_values", expected_outputs=q, decimals=5)
    test.test(("get_deterministic_action", [x]), which="action", expected_outputs=np.argmax(q, axis=1))


def test_the_mean_over_actions_is_the_state_value(backend):
    test = ComponentTest(DuelingPolicy(NETWORK, IntBox(4)), STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(2).normal(size=(5, 3)).astype(np.float32)
    value = dense(np.maximum(dense(x, w, "network/dense-0"), 0.0), w, "value")
    np.testing.assert_allclose(
        test.test(("get_q_values", [x]))["q_values"].mean(axis=1), value[:, 0], atol=1e-5
    )


@pytest.mark.parametrize("units", [0, 8])
def test_the_parts_of_an_action_share_the_state_value(units, backend):
    space = Dict(jump=BoolBox(), move=IntBox(3, shape=(2,)))
    policy = DuelingPolicy(NETWORK, space, units_state_value_stream=units)
    test = ComponentTest(policy, STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    value_features = advantage_features = np.maximum(dense(x, w, "network/dense-0"), 0.0)
    if units:
        value_features = np.maximum(dense(value_features, w, "value-hidden"), 0.0)
        advantage_features = np.maximum(dense(advantage_features, w, "advantages-hidden"), 0.0)
    value = dense(value_features, w, "value")
    jump = q_values(value, dense(advantage_features, w, "advantages-jump"))
    columns = dense(advantage_features, w, "advantages-move").reshape(5, 2, 3)
    move = np.stack([q_values(value, columns[:, i]) for i in range(2)], axis=1)
    test.test(
        ("get_q_values", [x]), which="q_values", expected_outputs={"jump": jump, "move": move}, decimals=5
    )
    actions = {"jump": np.argmax(jump, axis=1).astype(bool), "move": np.argmax(move, axis=2)}
    test.test(("get_deterministic_action", [x]), which="action", expected_outputs=actions)


def test_parts_of_every_kind_in_nested_containers(backend):
    """Each element by itself: the state value, and its advantages less the mean of those that it has."""
    grid = IntBox(3, shape=(2, 4), dtype="int32")
    space = Dict(a=IntBox([3, 5]), b=Dict(c=Tuple(BoolBox(), grid), d=BoolBox(shape=(2,))))
    numbers = {"a": [3, 5], "b/c/0": 2, "b/c/1": np.full((2, 4), 3), "b/d": [2, 2]}
    policy = DuelingPolicy(NETWORK, space, units_state_value_stream=5)
    test = ComponentTest(policy, STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(3).normal(size=(6, 3)).astype(np.float32)
    features = np.maximum(dense(x, w, "network/dense-0"), 0.0)
    value_features, advantage_features = (
        np.maximum(dense(features, w, f"{name}-hidden"), 0.0) for name in ("value", "advantages")
    )
    value = dense(value_features, w, "value")
    expected = {}
    for path, box in space.flatten().items():
        of_element = np.asarray(numbers[path])
        outputs = dense(advantage_features, w, f"advantages-{path.replace('/', '-')}")
        advantages = outputs.reshape(6, *box.shape, of_element.max())
        expected[path] = np.full(advantages.shape, -np.inf)
        for element in np.ndindex(6, *box.shape):
            existing = advantages[element][: of_element[element[1:]]]
            expected[path][element][: len(existing)] = value[element[0], 0] + existing - existing.mean()
    found = space.flatten_sample(test.test(("get_q_values", [x]))["q_values"])
    best = space.flatten_sample(test.test(("get_deterministic_action", [x]))["action"])
    for path, values in expected.items():
        np.testing.assert_allclose(found[path], values, atol=1e-5, err_msg=path)
        np.testing.assert_array_equal(best[path], values.argmax(-1), err_msg=path)
    assert best["b/c/1"].dtype == np.int32 and best["b/d"].dtype == bool


def test_mistakes():
    for units in (-1, "8"):
        with pytest.raises(
            SpecError, match="policy.units_state_value_stream: expected an integer >= 0, given"
        ):
            DuelingPolicy(NETWORK, IntBox(2), units)
    spec = {"type": "dueling_policy", "network_spec": NETWORK, "activation_state_value_stream": "tanh"}
    with pytest.raises(SpecError, match="activation_state_value_stream: .* It is 'activation' here"):
        DuelingPolicy.from_spec(spec, action_space=IntBox(2))
