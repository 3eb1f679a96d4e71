import numpy as np

from rlgraph.components import IQLLoss
from rlgraph.spaces import BoolBox, FloatBox, Tuple
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
TWO = Tuple(FloatBox(), FloatBox(), add_batch_rank=True)
SPACES = {
    "state_values": FLOATS,
    "next_state_values": FLOATS,
    "q_values": TWO,
    "q_values_target": TWO,
    "log_likelihood": FLOATS,
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
}
BATCH = {
    "state_values": [1.0, 2.0, -300.0],
    "next_state_values": [4.0, 9.0, 0.0],
    "q_values": ([1.0, 2.0, 0.0], [3.0, 0.0, 0.0]),
    "q_values_target": ([3.0, 1.5, 0.0], [2.0, 5.0, 1.0]),
    "log_likelihood": [-1.0, -2.0, -3.0],
    "rewards": [1.0, -1.0, 0.0],
    "terminals": [False, True, False],
}
#: Targets 3, -1 and 0 with a discount of 0.5; advantages 1, -0.5 and 300.
CRITIC = [4.0 + 0.0, 9.0 + 1.0, 0.0]
VALUE = [0.8 * 1.0, 0.2 * 0.25, 0.8 * 300.0**2]
ACTOR = [np.exp(2.0) * 1.0, np.exp(-1.0) * 2.0, 50.0 * 3.0]


def named(critic, value, actor):
    return {"loss": critic, "critic_loss": critic, "value_loss": value, "actor_loss": actor}


def test_by_hand(backend):
    test = ComponentTest(IQLLoss(0.8, 2.0, 50.0, 0.5), SPACES, backend=backend)
    expected = named(*(np.mean(x) for x in (CRITIC, VALUE, ACTOR)))
    test.test(("loss", BATCH), expected_outputs={**expected, "loss_per_item": CRITIC}, decimals=3)


def test_weights_of_values_without_dropout(backend):
    """Advantages 2, 0 and 1 for the policy; the value function learns from its own."""
    test = ComponentTest(
        IQLLoss(0.8, 2.0, 50.0, 0.5), {**SPACES, "evaluated_values": FLOATS}, backend=backend
    )
    actor = [50.0 * 1.0, 1.0 * 2.0, np.exp(2.0) * 3.0]
    expected = named(*(np.mean(x) for x in (CRITIC, VALUE, actor)))
    batch = {**BATCH, "evaluated_values": [0.0, 1.5, -1.0]}
    test.test(("loss", batch), expected_outputs={**expected, "loss_per_item": CRITIC}, decimals=3)


def test_weights_and_discounts(backend):
    spaces = {**SPACES, "weights": FLOATS, "discounts": FLOATS}
    weights, found = np.array([1.0, 0.5, 0.0]), [0.5, 0.9, np.nan]
    test = ComponentTest(IQLLoss(0.8, 2.0, 50.0), spaces, backend=backend)
    given = test.test(("loss", {**BATCH, "weights": weights, "discounts": found}))
    for name, per_item in named(CRITIC, VALUE, ACTOR).items():
        np.testing.assert_allclose(given[name], np.sum(weights * per_item) / 2, rtol=1e-5)


def test_gradients(derivative, trainer):
    """The policy learns from the likelihoods alone, and the values from the target critics."""
    loss = lambda: IQLLoss(0.8, 2.0, 50.0, 0.5)  # noqa: E731
    by_likelihood = derivative(loss(), SPACES, BATCH, "log_likelihood", trainer, "actor_loss")
    np.testing.assert_allclose(by_likelihood, -np.array([np.exp(2.0), np.exp(-1.0), 50.0]) / 3, rtol=1e-5)
    assert not derivative(loss(), SPACES, BATCH, "state_values", trainer, "actor_loss").any()
    by_value = derivative(loss(), SPACES, BATCH, "state_values", trainer, "value_loss")
    np.testing.assert_allclose(by_value, np.array([-1.6, 0.2, -480.0]) / 3, rtol=1e-5)
    assert not derivative(loss(), SPACES, BATCH, "next_state_values", trainer, "critic_loss").any()
