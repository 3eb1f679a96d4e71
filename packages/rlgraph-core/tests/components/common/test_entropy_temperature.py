import math

import numpy as np
import pytest

from rlgraph.components import SGD, EntropyTemperature, SACLoss, default_target_entropy
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

ITEMS = FloatBox(add_batch_rank=True)


class Tuned(Component):
    """A temperature and its optimizer."""

    def __init__(self, target_entropy):
        self.temperature, self.optimizer = EntropyTemperature(0.5), SGD(0.1)
        self.loss = SACLoss(target_entropy, num_q_functions=1)
        super().__init__(self.temperature, self.optimizer, self.loss, scope="tuned")

    @rlgraph_api
    def get_alpha(self):
        return self.temperature.get_alpha()

    @rlgraph_api
    def update(self, log_probs, rewards, terminals, weights):
        values = (rewards,)
        losses = self.loss.loss(
            self.temperature.get_alpha(),
            log_probs,
            values,
            values,
            log_probs,
            values,
            rewards,
            terminals,
            weights=weights,
        )
        self.optimizer.step(self.temperature.variables(), losses["alpha_loss"])
        return losses


def test_automatic_temperature(trainer):
    """Eq. 18: d/d(log alpha) of mean(-alpha (log pi + H)) is -alpha (mean(log pi) + H)."""
    spaces = {"log_probs": ITEMS, "rewards": ITEMS, "terminals": BoolBox(add_batch_rank=True)}
    test = ComponentTest(Tuned(-1.0), {**spaces, "weights": BoolBox(add_batch_rank=True)}, backend=trainer)
    test.test("get_alpha", expected_outputs=0.5, decimals=6)
    batch = ([2.0, 4.0, np.nan], [0.0, 0.0, np.inf], [False] * 3, [True, True, False])
    losses = test.test("update", *batch)
    assert losses["alpha_loss"] == pytest.approx(-0.5 * (3.0 - 1.0))
    assert losses["entropy"] == pytest.approx(-3.0)
    # The entropy, -3, is below the target, -1, so the temperature rises.
    test.test("get_alpha", expected_outputs=math.exp(math.log(0.5) + 0.1 * 0.5 * 2.0), decimals=5)


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (FloatBox(-1.0, 1.0, shape=(2, 3)), -6.0),
        (FloatBox(-2.0, 2.0, shape=(3,)), 3.0 * math.log(2.0) - 3.0),
        (FloatBox([0.0, -1.0], [1.0, 3.0]), math.log(0.5) + math.log(2.0) - 2.0),
        (IntBox(4), 0.98 * math.log(4.0)),
        (IntBox([3, 5]), 0.98 * math.log(15.0)),
        (IntBox(2, 5, shape=(2,)), 0.98 * math.log(9.0)),
        (BoolBox(shape=(2, 3)), 0.98 * 6.0 * math.log(2.0)),
        (Dict(jump=BoolBox(), move=FloatBox(shape=(2,))), 0.98 * math.log(2.0) - 2.0),
    ],
)
def test_default_target_entropy(space, expected):
    assert default_target_entropy(space) == pytest.approx(expected)


def test_mistakes():
    with pytest.raises(SpecError, match="initial_alpha: expected a number > 0"):
        EntropyTemperature(0.0)
    for space in (IntBox(), TextBox()):
        with pytest.raises(SpaceError, match="expected floats, bools or integers with bounds"):
            default_target_entropy(space)
