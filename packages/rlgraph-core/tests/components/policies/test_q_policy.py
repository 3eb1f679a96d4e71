import numpy as np
import pytest

from rlgraph.components import DuelingPolicy, QPolicy
from rlgraph.components.policies.categorical_actions import categories
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

STATES = {"observations": FloatBox(shape=(3,), add_batch_rank=True)}
NETWORK = [{"type": "dense", "units": 4, "activation": "tanh"}]


@pytest.mark.parametrize("batch", [1, 6])
def test_values_and_actions(batch, backend):
    test = ComponentTest(QPolicy(NETWORK, IntBox(5)), STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(batch, 3)).astype(np.float32)
    hidden = np.tanh(x @ w["network/dense-0/weights"] + w["network/dense-0/biases"])
    q = hidden @ w["q-values/weights"] + w["q-values/biases"]
    assert q.shape == (batch, 5)
    test.test(("get_q_values", [x]), which="q_values", expected_outputs=q, decimals=5)
    actions = test.test(
        ("get_deterministic_action", [x]),
        which="action",
        expected_outputs=[max(range(5), key=row.__getitem__) for row in q],
    )
    assert actions.dtype == np.int64


def test_the_first_of_equal_values(backend):
    policy = QPolicy([{"type": "dense", "units": 2, "weights_spec": 0.0}], IntBox(3))
    test = ComponentTest(policy, STATES, backend=backend)
    test.test(("get_deterministic_action", [np.zeros((2, 3))]), which="action", expected_outputs=[0, 0])


CONTAINER = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(4, shape=(2,))))


def test_container_actions(backend):
    """A head for each part, named after its path; an element of an array has values of its own."""
    test = ComponentTest(QPolicy(NETWORK, CONTAINER), STATES, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    hidden = np.tanh(x @ w["network/dense-0/weights"] + w["network/dense-0/biases"])
    heads = {
        name: hidden @ w[f"q-values-{name}/weights"] + w[f"q-values-{name}/biases"]
        for name in ("jump", "move-0", "move-1")
    }
    assert {name: head.shape for name, head in heads.items()} == {
        "jump": (6, 2),
        "move-0": (6, 3),
        "move-1": (6, 8),
    }
    rows = heads["move-1"].reshape(6, 2, 4)
    expected = {"jump": heads["jump"], "move": (heads["move-0"], rows)}
    test.test(("get_q_values", [x]), which="q_values", expected_outputs=expected, decimals=5)
    jump = [values[1] > values[0] for values in heads["jump"]]
    move = [max(range(3), key=values.__getitem__) for values in heads["move-0"]]
    both = [[max(range(4), key=values.__getitem__) for values in row] for row in rows]
    actions = test.test(
        ("get_deterministic_action", [x]),
        which="action",
        expected_outputs={"jump": jump, "move": (move, both)},
    )
    assert (actions["jump"].dtype, actions["move"][1].dtype) == (bool, np.int64)
    assert CONTAINER.with_batch_rank().contains(actions)


def test_actions_of_a_smaller_type(backend):
    test = ComponentTest(QPolicy(NETWORK, IntBox(5, dtype="uint8")), STATES, backend=backend)
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    actions = test.test(("get_deterministic_action", [x]))["action"]
    assert actions.dtype == np.uint8
    np.testing.assert_array_equal(actions, test.test(("get_q_values", [x]))["q_values"].argmax(axis=1))


@pytest.mark.parametrize(
    "space", [FloatBox(), IntBox(), IntBox(0, None), IntBox([1, 0], [3, 5]), IntBox(1, 4)]
)
def test_wrong_action_spaces(space):
    with pytest.raises(
        SpecError, match=r"pi: Q-learning needs categorical actions, an IntBox\(n\), .*given (F|I)"
    ):
        QPolicy(NETWORK, space, scope="pi")


def test_what_stands_for_an_action_space():
    policy = QPolicy(NETWORK, {"move": IntBox(3, add_batch_rank=True), "jump": bool})
    assert policy.action_space == Dict(move=IntBox(3), jump=BoolBox())
    for given in (None, 4):
        with pytest.raises(SpecError, match=f"pi.action_space: expected a Space, .*given {given}"):
            QPolicy(NETWORK, given, scope="pi")


def test_the_wrong_part_is_named():
    space = Dict(move=IntBox(3), turn=Tuple(BoolBox(), FloatBox()))
    with pytest.raises(SpecError, match=r"pi: Q-learning .*given FloatBox\(\), part 'turn/1' of Dict\("):
        QPolicy(NETWORK, space, scope="pi")


def test_number_of_actions():
    assert categories(IntBox(7), "here") == {"": 7}
    assert categories(CONTAINER, "here") == {"jump": 2, "move/0": 3, "move/1": 4}


def test_wrong_network():
    with pytest.raises(SpecError, match=r"policy.network_spec"):
        QPolicy({"layers": NETWORK, "no": 1}, IntBox(2))


@pytest.mark.parametrize("kind", [QPolicy, DuelingPolicy])
def test_elements_with_different_numbers_of_actions(kind, backend):
    """As Gymnasium's MultiDiscrete([2, 4, 3]); what there is not is never chosen, however large its value would be."""
    test = ComponentTest(kind(NETWORK, IntBox([2, 4, 3])), STATES, backend=backend)
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    q = test.test(("get_q_values", [x]))["q_values"]
    assert q.shape == (50, 3, 4)
    missing = np.isneginf(q)
    assert (missing == np.array([[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1]], bool)).all()
    w = test.read_variable_values()
    hidden = np.tanh(x @ w["network/dense-0/weights"] + w["network/dense-0/biases"])
    head = "q-values" if kind is QPolicy else "advantages"
    expected = (hidden @ w[f"{head}/weights"] + w[f"{head}/biases"]).reshape(50, 3, 4)
    if kind is DuelingPolicy:  # the mean is that of the actions that there are
        for element, number in enumerate([2, 4, 3]):
            expected[:, element] -= expected[:, element, :number].mean(axis=-1, keepdims=True)
        expected += (hidden @ w["value/weights"] + w["value/biases"])[:, None]
    np.testing.assert_allclose(q[~missing], expected[~missing], atol=1e-5)
    actions = test.test(("get_deterministic_action", [x]))["action"]
    assert (actions.max(axis=0) < [2, 4, 3]).all() and (actions == q.argmax(axis=-1)).all()
