import numpy as np
import pytest

from rlgraph.components import SACLoss, TD3Loss
from rlgraph.spaces import BoolBox, FloatBox, Tuple
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
TWO = Tuple(FloatBox(), FloatBox(), add_batch_rank=True)
SPACES = {
    "q_values_next": TWO,
    "q_values": TWO,
    "q_values_policy": FLOATS,
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
}
BATCH = {
    "q_values_next": ([4.0, 9.0], [2.0, 9.0]),
    "q_values": ([1.0, 2.0], [3.0, 0.0]),
    "q_values_policy": [2.0, -5.0],
    "rewards": [1.0, -1.0],
    "terminals": [False, True],
}
#: Targets 1 + 0.5 * 2 = 2 and -1.
CRITIC, ACTOR = [1.0 + 1.0, 9.0 + 1.0], [-2.0, 5.0]


def named(critic, actor):
    return {"loss": critic, "critic_loss": critic, "actor_loss": actor, "loss_per_item": CRITIC}


def test_by_hand(backend):
    test = ComponentTest(TD3Loss(0.5), SPACES, backend=backend)
    test.test(("loss", BATCH), expected_outputs=named(6.0, 1.5))
    test.test("actor_loss_per_item", BATCH["q_values_policy"], expected_outputs=ACTOR)


@pytest.mark.parametrize("loss", [TD3Loss(), SACLoss()], ids=["whole squares", "halves"])
def test_errors(loss, backend):
    """Of errors of 3 and 1 the root mean square is that of 5."""
    test = ComponentTest(loss, {"loss_per_item": FLOATS}, backend=backend)
    per_item = [10.0, 0.0] if isinstance(loss, TD3Loss) else [5.0, 0.0]
    test.test(("get_errors", [per_item]), expected_outputs=[5.0**0.5, 0.0], decimals=5)


def test_weights_and_discounts(backend):
    spaces = {**SPACES, "weights": FLOATS, "discounts": FLOATS}
    batch = {**BATCH, "weights": [1.0, 0.5], "discounts": [0.5, 0.9]}
    expected = named((2.0 + 5.0) / 2, (-2.0 + 2.5) / 2)
    ComponentTest(TD3Loss(), spaces, backend=backend).test(("loss", batch), expected_outputs=expected)


def test_one_critic_is_ddpg(backend):
    one = Tuple(FloatBox(), add_batch_rank=True)
    test = ComponentTest(
        TD3Loss(0.5, num_q_functions=1), {**SPACES, "q_values_next": one, "q_values": one}, backend=backend
    )
    batch = {**BATCH, "q_values_next": ([4.0, 9.0],), "q_values": ([1.0, 2.0],)}
    test.test(("loss_per_item", batch), which="critic_loss", expected_outputs=[4.0, 9.0])


def test_gradients(derivative, trainer):
    by_policy = derivative(TD3Loss(), SPACES, BATCH, "q_values_policy", trainer, "actor_loss")
    np.testing.assert_allclose(by_policy, [-0.5, -0.5])
    assert not derivative(TD3Loss(), SPACES, BATCH, "rewards", trainer, "critic_loss").any()
