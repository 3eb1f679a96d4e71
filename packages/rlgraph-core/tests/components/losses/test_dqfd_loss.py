import numpy as np

from rlgraph.components import DQFDLoss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

FLOATS, VALUES = FloatBox(add_batch_rank=True), FloatBox(shape=(2,), add_batch_rank=True)
SPACES = {
    "q_values": VALUES,
    "actions": IntBox(2, add_batch_rank=True),
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
    "q_next": VALUES,
    "q_next_target": VALUES,
}
# Targets 1 + 0.5 * 2 = 2, -1, 0.5; errors 0, -1.5, -2.5; half squares 0, 1.125, 3.125.
BATCH = {
    "q_values": [[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]],
    "actions": [1, 0, 0],
    "rewards": [1.0, -1.0, 0.0],
    "terminals": [False, True, False],
    "q_next": [[0.0, 1.0], [5.0, 5.0], [2.0, 1.0]],
    "q_next_target": [[4.0, 2.0], [9.0, 9.0], [1.0, 6.0]],
}
TD = np.array([0.0, 1.125, 3.125])
#: Better by 1, 0.5 and 2: with a margin of 0.8 only the second is not enough.
MARGIN = np.array([0.0, 0.3, 0.0])


def test_by_hand(backend):
    test = ComponentTest(DQFDLoss(0.8, 2.0, discount=0.5), SPACES, backend=backend)
    items = TD + 2.0 * MARGIN
    per_item = {"loss": items, "td_loss": TD, "margin_loss": MARGIN}
    test.test(("loss_per_item", BATCH), expected_outputs=per_item, decimals=5)
    means = {name: numbers.mean() for name, numbers in per_item.items()}
    test.test(("loss", BATCH), expected_outputs={**means, "loss_per_item": items}, decimals=5)
    test.test(("get_td_errors", BATCH), expected_outputs=[0.0, 1.5, 2.5], decimals=5)


def test_n_steps_by_hand(backend):
    """Both losses are of the same values of the states."""
    later = {
        "n_step_rewards": [2.0, -1.0, 1.0],
        "n_step_terminals": [False, True, False],
        "n_step_q_next": [[3.0, 1.0], [5.0, 5.0], [0.0, 1.0]],
        "n_step_q_next_target": [[8.0, 0.0], [9.0, 9.0], [7.0, 4.0]],
        "n_step_discounts": [0.25, 0.25, 0.125],
    }
    spaces = {**SPACES, **{name: SPACES[name.removeprefix("n_step_")] for name in list(later)[:4]}}
    spaces |= {"n_step_discounts": FLOATS, "apply_demo_loss": BoolBox(add_batch_rank=True), "weights": FLOATS}
    test = ComponentTest(DQFDLoss(0.8, 2.0, 0.5, discount=0.5), spaces, backend=backend)
    batch = {**BATCH, **later, "apply_demo_loss": [True, True, False]}
    # Targets 2 + 0.25 * 8, -1 and 1 + 0.125 * 4; errors -2, 1.5 and 1.5.
    n_step = np.array([2.0, 1.125, 1.125])
    items = TD + 2.0 * MARGIN + 0.5 * n_step
    per_item = {"loss": items, "td_loss": TD, "margin_loss": MARGIN, "n_step_loss": n_step}
    test.test(("loss_per_item", batch), expected_outputs=per_item, decimals=5)
    weights = np.array([1.0, 0.0, 2.0])
    means = {name: (weights * numbers).sum() / 2 for name, numbers in per_item.items()}
    kept = np.where(weights > 0.0, items, 0.0)
    weighted = {**batch, "weights": weights}
    test.test(("loss", weighted), expected_outputs={**means, "loss_per_item": kept}, decimals=5)


def test_only_demonstrations_have_a_margin(backend):
    spaces = {**SPACES, "apply_demo_loss": BoolBox(add_batch_rank=True)}
    test = ComponentTest(DQFDLoss(1.5, discount=0.5), spaces, backend=backend)
    batch = {**BATCH, "apply_demo_loss": [True, False, True]}
    margins = test.test(("loss_per_item", batch))["margin_loss"]
    np.testing.assert_allclose(margins, [0.5, 0.0, 0.0], atol=1e-6)
    all_or_none = ComponentTest(
        DQFDLoss(1.5, discount=0.5), {**SPACES, "apply_demo_loss": bool}, backend=backend
    )
    for apply, margins in ((True, (0.5, 1.0, 0.0)), (False, (0.0, 0.0, 0.0))):
        batch = {**BATCH, "apply_demo_loss": apply}
        items = all_or_none.test(("loss_per_item", batch))["loss"]
        np.testing.assert_allclose(items, TD + margins, rtol=1e-5)


def test_margins_weights_and_discounts_per_item(backend):
    spaces = {**SPACES, **dict.fromkeys(("expert_margins", "weights", "discounts"), FLOATS)}
    test = ComponentTest(DQFDLoss(), spaces, backend=backend)
    batch = {
        **BATCH,
        "expert_margins": [2.0, 0.5, 2.5],
        "weights": [1.0, 0.5, 2.0],
        "discounts": [0.5, 0.9, 0.5],
    }
    items = TD + np.array([1.0, 0.0, 0.5])
    found = test.test(("loss", batch))
    np.testing.assert_allclose(found["loss"], (items[0] + 0.5 * items[1] + 2.0 * items[2]) / 3, rtol=1e-5)
    np.testing.assert_allclose(found["loss_per_item"], items, rtol=1e-5)


def test_container_actions(backend):
    """The margin losses of the parts are averaged, as are their TD losses."""
    parts = Dict(jump=BoolBox(), move=IntBox(3))
    values = Dict(jump=FloatBox(shape=(2,)), move=FloatBox(shape=(3,)), add_batch_rank=True)
    spaces = {**SPACES, **dict.fromkeys(("q_values", "q_next", "q_next_target"), values)}
    spaces |= {"actions": parts.with_batch_rank(), "expert_margins": FLOATS}
    test = ComponentTest(DQFDLoss(discount=0.5, action_space=parts), spaces, backend=backend)
    zeros = {"jump": [[0.0, 0.0]], "move": [[0.0, 0.0, 0.0]]}
    batch = {
        "q_values": {"jump": [[1.0, 2.0]], "move": [[4.0, 0.0, 3.5]]},
        "actions": {"jump": [False], "move": [0]},
        "rewards": [1.0],
        "terminals": [False],
        "q_next": zeros,
        "q_next_target": zeros,
        "expert_margins": [1.0],
    }
    # TD errors 0 and -3; margins 2 + 1 - 1 and 3.5 + 1 - 4.
    items = test.test(("loss_per_item", batch))["loss"]
    np.testing.assert_allclose(items, [4.5 / 2 + (2.0 + 0.5) / 2], rtol=1e-5)


def test_gradients(derivative, trainer):
    """The margin pushes the expert's action up and the best other one down."""
    with_margin = derivative(DQFDLoss(0.8, discount=0.5), SPACES, BATCH, "q_values", trainer)
    without = derivative(DQFDLoss(0.0, discount=0.5), SPACES, BATCH, "q_values", trainer)
    np.testing.assert_allclose(3.0 * (with_margin - without), [[0, 0], [-1, 1], [0, 0]], atol=1e-5)
