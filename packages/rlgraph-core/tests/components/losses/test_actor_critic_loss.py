import numpy as np
import pytest

from rlgraph.components import ActorCriticLoss
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
SPACES = dict.fromkeys(("log_probs", "state_values", "advantages", "entropy"), FLOATS)
BATCH = {
    "log_probs": np.log([0.5, 0.25]),
    "state_values": [1.0, 5.0],
    "advantages": [2.0, -1.0],
    "entropy": [1.0, 3.0],
}
LN2 = np.log(2.0)


def test_by_hand(backend):
    test = ComponentTest(ActorCriticLoss(), SPACES, backend=backend)
    # -A log pi = 2 ln 2, -2 ln 2; squares 4, 1, halved; entropies times 0.01.
    items = np.array([2.0 * LN2 + 2.0 - 0.01, -2.0 * LN2 + 0.5 - 0.03])
    expected = {"loss": items.mean(), "policy_loss": 0.0, "value_loss": 2.5, "entropy": 2.0}
    test.test(("loss", BATCH), expected_outputs={**expected, "loss_per_item": items}, decimals=5)


def test_weights(backend):
    loss = ActorCriticLoss(weight_pg=[2.0, 0.0], weight_vf=0.25, weight_entropy=0)
    spaces = {**SPACES, "progress": float, "weights": FLOATS}
    del spaces["entropy"]
    batch = {**BATCH, "progress": 0.25, "weights": [0.0, 4.0]}
    del batch["entropy"]
    items = np.array([1.5 * 2.0 * LN2 + 1.0, -1.5 * 2.0 * LN2 + 0.25])
    ComponentTest(loss, spaces, backend=backend).test(
        ("loss", batch),
        expected_outputs={
            "loss": 4.0 * items[1],
            "policy_loss": 4.0 * -2.0 * LN2,
            "value_loss": 4.0 * 1.0,
            "loss_per_item": [0.0, items[1]],
        },
        decimals=5,
    )


def test_advantages_of_the_policy_alone(backend):
    """The targets of the value function are made of the other ones."""
    test = ComponentTest(ActorCriticLoss(), {**SPACES, "policy_advantages": FLOATS}, backend=backend)
    items = np.array([4.0 * LN2 + 2.0 - 0.01, 6.0 * LN2 + 0.5 - 0.03])
    batch = {**BATCH, "policy_advantages": [4.0, 3.0]}
    test.test(("loss", batch), which="loss_per_item", expected_outputs=items, decimals=5)


def test_advantages_of_values_without_dropout(backend):
    """The targets are the values of which the advantages were made, plus these: 5 and 3 for values 1 and 5."""
    test = ComponentTest(ActorCriticLoss(), {**SPACES, "evaluated_values": FLOATS}, backend=backend)
    items = np.array([2.0 * LN2 + 0.5 * 16.0 - 0.01, -2.0 * LN2 + 0.5 * 4.0 - 0.03])
    batch = {**BATCH, "evaluated_values": [3.0, 4.0]}
    test.test(("loss", batch), which="loss_per_item", expected_outputs=items, decimals=5)


def test_container_actions_have_joint_probabilities(backend):
    parts = Dict(a=FloatBox(), b=FloatBox(shape=(2,)), add_batch_rank=True)
    test = ComponentTest(
        ActorCriticLoss(weight_entropy=1.0), {**SPACES, "log_probs": parts, "entropy": parts}, backend=backend
    )
    batch = {
        "log_probs": {"a": np.log([0.5]), "b": np.log([[0.5, 0.25]])},
        "advantages": [3.0],
        "state_values": [0.0],
        "entropy": {"a": [1.0], "b": [[2.0, 3.0]]},
    }
    expected = [3.0 * 4.0 * LN2 + 0.5 * 9.0 - 6.0]
    assert test.test(("loss", batch), which="loss_per_item") == pytest.approx(expected)


def test_sequences_are_as_many_items(backend):
    """Time and batch, as it were one batch."""
    rng = np.random.default_rng(0)
    batch = {name: rng.normal(size=(5, 3)).astype("float32") for name in SPACES}
    time = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    sequences = ComponentTest(ActorCriticLoss(), dict.fromkeys(SPACES, time), backend=backend)
    flat = ComponentTest(ActorCriticLoss(), SPACES, backend=backend)
    expected = flat.test(("loss", {name: value.reshape(-1) for name, value in batch.items()}))
    expected["loss_per_item"] = expected["loss_per_item"].reshape(5, 3)
    sequences.test(("loss", batch), expected_outputs=expected, decimals=5)


def test_padding_does_not_count(backend):
    time = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {**dict.fromkeys(SPACES, time), "sequence_length": IntBox(add_batch_rank=True)}
    test = ComponentTest(ActorCriticLoss(average_time_steps=False), spaces, backend=backend)
    padded = {name: np.array([[value[0], value[1]], [value[1], 1e9]]) for name, value in BATCH.items()}
    items = np.array([2.0 * LN2 + 2.0 - 0.01, -2.0 * LN2 + 0.5 - 0.03])
    expected = {
        "loss": (items.sum() + items[1]) / 2,
        "policy_loss": -2.0 * LN2 / 2,
        "value_loss": (5.0 + 1.0) / 2,
        "entropy": (1.0 + 3.0 + 3.0) / 3,  # measured: the mean of the steps
        "loss_per_item": [[items[0], items[1]], [items[1], 0.0]],
    }
    test.test(("loss", {**padded, "sequence_length": [2, 1]}), expected_outputs=expected, decimals=4)


def test_gradients(derivative, trainer):
    given = (SPACES, BATCH)
    by_log_probs = derivative(ActorCriticLoss(), *given, "log_probs", trainer)
    np.testing.assert_allclose(by_log_probs, [-1.0, 0.5], rtol=1e-5)
    # The targets are fixed: d/dV 0.5 (R - V)^2 = -(R - V) = -A.
    by_values = derivative(ActorCriticLoss(), *given, "state_values", trainer)
    np.testing.assert_allclose(by_values, [-1.0, 0.5], rtol=1e-5)
    assert not derivative(ActorCriticLoss(), *given, "advantages", trainer).any()
    by_entropy = derivative(ActorCriticLoss(), *given, "entropy", trainer)
    np.testing.assert_allclose(by_entropy, [-0.005, -0.005], rtol=1e-5)


def test_padding(padding_has_no_derivatives):
    spaces = dict.fromkeys(SPACES, FloatBox(add_batch_rank=True, add_time_rank=2, time_major=True))
    batch = {name: np.array([[0.1, 0.3], [np.nan, 0.2]], "float32") for name in SPACES}
    padding_has_no_derivatives(ActorCriticLoss, spaces, batch, "log_probs", "state_values", "entropy")
