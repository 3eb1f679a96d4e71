import numpy as np
import pytest

from rlgraph.components import DeterministicPolicy
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STATES = FloatBox(shape=(3,), add_batch_rank=True)
LOW, HIGH = np.array([-1.0, 0.0], np.float32), np.array([1.0, 10.0], np.float32)
MOVES = Dict(push=FloatBox(LOW, HIGH), turn=FloatBox(-2.0, 2.0))


class Smoothed(Component):
    def __init__(self):
        self.policy = DeterministicPolicy([4], MOVES)
        super().__init__(self.policy, scope="smoothed")

    @rlgraph_api
    def moved(self, states, actions):
        self.policy.get_deterministic_action(states)
        return self.policy.smoothed(actions, 0.2, 0.3)


def test_actions_by_hand(backend):
    policy = DeterministicPolicy([{"type": "dense", "units": 4, "activation": "relu"}], MOVES)
    test = ComponentTest(policy, {"observations": STATES}, backend=backend)
    w = test.read_variable_values()
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    hidden = np.maximum(x @ w["network/dense-0/weights"] + w["network/dense-0/biases"], 0.0)
    push = np.tanh(hidden @ w["action-push/weights"] + w["action-push/biases"])
    turn = np.tanh(hidden @ w["action-turn/weights"] + w["action-turn/biases"])[:, 0]
    expected = {"push": LOW + (push + 1) * (HIGH - LOW) / 2, "turn": 2.0 * turn}
    test.test(("get_deterministic_action", x), expected_outputs={"action": expected})


def test_smoothing(backend):
    """Normal noise of 0.2 of half the range, clipped at 0.3, and never outside the bounds."""
    test = ComponentTest(Smoothed(), {"states": STATES, "actions": MOVES.with_batch_rank()}, backend=backend)
    middle = {"push": np.tile((LOW + HIGH) / 2, (3000, 1)), "turn": np.full(3000, 1.9, np.float32)}
    moved = test.test(("moved", {"states": np.zeros((3000, 3), np.float32), "actions": middle}))
    noise = (moved["push"] - middle["push"]) / ((HIGH - LOW) / 2)
    assert noise.std() == pytest.approx(0.1765, abs=0.006)  # of the clipped normal, by scipy.stats
    assert np.abs(noise).max() == pytest.approx(0.3) and abs(np.corrcoef(noise.T)[0, 1]) < 0.06
    assert moved["turn"].max() == 2.0 and moved["turn"].min() == pytest.approx(1.9 - 0.6)


@pytest.mark.parametrize("space", [FloatBox(), FloatBox(0.0, None), IntBox(3)])
def test_actions_that_do_not_fit(space):
    with pytest.raises(
        SpecError, match=r"policy.action_space: expected floats with both bounds.*in part 'a'"
    ):
        DeterministicPolicy([4], Dict(a=space))
