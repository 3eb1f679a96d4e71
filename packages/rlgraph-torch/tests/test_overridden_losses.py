"""What a subclass of a loss overrides has its effect, although the loss has a kernel."""

import numpy as np
import pytest

from rlgraph.components import DQNLoss
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest


class NothingFollows(DQNLoss):
    def next_values(self, ops, q_next, q_next_target):
        return 0.0 * q_next_target[:, 0]


class Quartic(DQNLoss):
    def _penalty(self, ops, errors):
        return errors**4


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(DQNLoss, 0.5 * 2.5**2), (NothingFollows, 0.5 * 1.0**2), (Quartic, 2.5**4)],
)
def test_the_loss_is_that_of_the_subclass(loss, expected):
    values = FloatBox(shape=(2,), add_batch_rank=True)
    spaces = dict.fromkeys(("q_values", "q_next", "q_next_target"), values)
    spaces |= {
        "actions": IntBox(2, add_batch_rank=True),
        "rewards": FloatBox(add_batch_rank=True),
        "terminals": BoolBox(add_batch_rank=True),
    }
    test = ComponentTest(loss(discount=0.5), spaces, backend="torch")
    zeros, following = np.zeros((1, 2), "float32"), np.float32([[1.0, 3.0]])
    # 1 + 0.5 * 3 for the action 1, whose value is 0.
    given = {"q_values": zeros, "actions": [1], "rewards": np.float32([1.0]), "terminals": [False]}
    losses = test.test(("loss", {**given, "q_next": following, "q_next_target": following}))
    assert losses["loss"] == pytest.approx(expected, rel=1e-6)
