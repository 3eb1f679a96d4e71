import numpy as np
import pytest

from rlgraph.components import QPolicy
from rlgraph.components.policies.q_policy import count_actions
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STATES = {"states": FloatBox(shape=(3,), add_batch_rank=True)}
NETWORK = [{"type": "dense", "units": 4, "activation": "tanh"}]


@pytest.mark.parametrize("batch", [1, 6])
def test_values_and_actions(batch, backend):
    test = ComponentTest(QPolicy(NETWORK, IntBox(5)), STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(batch, 3)).astype(np.float32)
    hidden = np.tanh(x @ w["network/dense-0/weights"] + w["network/dense-0/biases"])
    q = hidden @ w["q-values/weights"] + w["q-values/biases"]
    assert q.shape == (batch, 5)
    test.test(("get_q_values", [x]), expected_outputs=q, decimals=5)
    actions = test.test(
        ("get_deterministic_action", [x]), expected_outputs=[max(range(5), key=row.__getitem__) for row in q]
    )
    assert actions.dtype == np.int64


def test_the_first_of_equal_values(backend):
    policy = QPolicy([{"type": "dense", "units": 2, "weights_spec": 0.0}], IntBox(3))
    test = ComponentTest(policy, STATES, backend=backend)
    test.test(("get_deterministic_action", [np.zeros((2, 3))]), expected_outputs=[0, 0])


@pytest.mark.parametrize(
    "space", [FloatBox(), IntBox(3, shape=(2,)), IntBox(), BoolBox(), Dict(a=IntBox(2)), None]
)
def test_wrong_action_spaces(space):
    with pytest.raises(
        SpecError, match=r"pi: Q-learning needs one categorical action, an IntBox\(n\); given"
    ):
        QPolicy(NETWORK, space, scope="pi")


def test_number_of_actions():
    assert count_actions(IntBox(7), "here") == 7


def test_wrong_network():
    with pytest.raises(SpecError, match=r"policy.network_spec"):
        QPolicy({"layers": NETWORK, "no": 1}, IntBox(2))
