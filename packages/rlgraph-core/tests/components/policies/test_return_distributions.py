"""Q-policies whose heads give distributions of returns."""

import numpy as np
import pytest

from rlgraph.components import DuelingPolicy, QPolicy
from rlgraph.components.policies.return_distributions import CategoricalReturns, QuantileReturns
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STATES = FloatBox(shape=(3,), add_batch_rank=True)
NETWORK = [{"type": "dense", "units": 4, "activation": "tanh"}]
ACTIONS = Dict(jump=IntBox(3), steps=IntBox(2, shape=(2,)))
X = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)


def dense(x, w, scope):
    return x @ w[f"{scope}/weights"] + w[f"{scope}/biases"]


def mean_by_hand(kind, numbers):
    if isinstance(kind, QuantileReturns):
        return numbers.sum(axis=-1) / kind.size
    powers = np.exp(numbers)
    support = np.linspace(kind.low, kind.high, kind.size)
    return (powers * support).sum(axis=-1) / powers.sum(axis=-1)


@pytest.mark.parametrize("kind", [CategoricalReturns(5, -1.0, 3.0), QuantileReturns(4)])
@pytest.mark.parametrize("dueling", [False, True])
def test_values_are_means(kind, dueling, backend):
    policy = (DuelingPolicy if dueling else QPolicy)(NETWORK, ACTIONS, returns=kind)
    test = ComponentTest(policy, {"observations": STATES}, backend=backend)
    w = test.read_variable_values()
    features = np.tanh(dense(X, w, "network/dense-0"))
    numbers = {}
    for name, shape in (("jump", (3,)), ("steps", (2, 2))):
        head = "advantages" if dueling else "q-values"
        numbers[name] = dense(features, w, f"{head}-{name}").reshape(5, *shape, kind.size)
        if dueling:
            value = dense(features, w, "value").reshape(5, *[1] * len(shape), kind.size)
            numbers[name] = value + numbers[name] - numbers[name].mean(axis=-2, keepdims=True)
    values = {name: mean_by_hand(kind, x) for name, x in numbers.items()}
    test.test(("get_q_values", X), expected_outputs={"q_values": values}, decimals=5)
    best = {name: x.argmax(axis=-1) for name, x in values.items()}
    expected = {"distributions": numbers, "action": best}
    test.test(("get_distributions", X), expected_outputs=expected, decimals=5)
    test.test(("get_deterministic_action", X), expected_outputs={"action": best})


def test_the_action_of_noisy_distributions_is_the_best_of_these(backend):
    kind = QuantileReturns(4)
    policy = QPolicy(NETWORK, IntBox(6), returns=kind, noisy=True)
    test = ComponentTest(policy, {"observations": STATES}, backend=backend)
    first, second = (test.test(("get_distributions", X)) for _ in range(2))
    assert not np.array_equal(first["distributions"], second["distributions"])
    for given in (first, second):
        assert np.array_equal(given["action"], mean_by_hand(kind, given["distributions"]).argmax(axis=-1))


def test_forbidden_and_missing_actions_are_never_best(backend):
    """Even if all that is possible has a mean below 0."""
    actions = IntBox(np.array([0, 0]), np.array([2, 3]))
    policy = QPolicy(NETWORK, actions, returns=CategoricalReturns(3, -9.0, -1.0))
    mask = np.ones((5, 2, 3), bool)
    mask[:, 0, 0] = mask[:, 1, 2] = False
    masks = BoolBox(shape=(2, 3), add_batch_rank=True)
    seen = Dict(states=STATES, action_mask=masks)
    test = ComponentTest(policy, {"observations": seen}, backend=backend)
    action = test.test(("get_deterministic_action", [{"states": X, "action_mask": mask}]))["action"]
    assert (action[:, 0] == 1).all() and (action[:, 1] < 2).all()


def test_noisy_heads(backend):
    test = ComponentTest(
        DuelingPolicy(NETWORK, IntBox(3), noisy=True), {"observations": STATES}, backend=backend
    )
    first, second = (test.test(("get_q_values", X))["q_values"] for _ in range(2))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CategoricalReturns(1), r"num_atoms: expected an integer >= 2, given 1"),
        (lambda: CategoricalReturns(low=1.0, high=1.0), r"high: expected a number above low, 1, given 1"),
        (lambda: QuantileReturns(0), r"num_quantiles: expected an integer >= 1, given 0"),
    ],
)
def test_wrong_distributions(make, message):
    with pytest.raises(SpecError, match=message):
        make()


class WithoutNoise(Component):
    def __init__(self, policy):
        super().__init__(policy)
        self.policy = policy

    @rlgraph_api
    def act(self, states):
        return self.policy.get_q_values_and_action({"states": states, "training": False})


@pytest.mark.parametrize("dueling", [False, True])
def test_without_noise_weights_are_their_means(dueling, backend):
    """In the network, in streams and in heads."""
    network = [{"type": "noisy_dense", "units": 4, "activation": "tanh", "sigma": 3.0}]
    streams = {"units_state_value_stream": 2} if dueling else {}
    policy = (DuelingPolicy if dueling else QPolicy)(network, IntBox(3), noisy=True, **streams)
    test = ComponentTest(WithoutNoise(policy), {"states": STATES}, backend=backend)
    w = {name.removeprefix("policy/"): value for name, value in test.read_variable_values().items()}
    features = np.tanh(dense(X, w, "network/noisy_dense-0"))
    if dueling:
        value = dense(np.maximum(dense(features, w, "value-hidden"), 0), w, "value")
        advantages = dense(np.maximum(dense(features, w, "advantages-hidden"), 0), w, "advantages")
        values = value + advantages - advantages.mean(axis=-1, keepdims=True)
    else:
        values = dense(features, w, "q-values")
    expected = {"q_values": values, "action": values.argmax(axis=-1)}
    test.test(("act", X), expected_outputs=expected, decimals=5)
