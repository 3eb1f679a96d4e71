import itertools

import numpy as np
import pytest

from rlgraph.components import DQNLoss
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest


def spaces(actions):
    values = FloatBox(shape=(actions,), add_batch_rank=True)
    return {
        "q_values": values,
        "actions": IntBox(actions, add_batch_rank=True),
        "rewards": FloatBox(add_batch_rank=True),
        "terminals": BoolBox(add_batch_rank=True),
        "q_next": values,
        "q_next_target": values,
    }


def by_hand(discount, double, huber, q, actions, rewards, terminals, q_next, q_target):
    """Mnih et al. (2015), Algorithm 1; van Hasselt et al. (2016), eq. 4; Huber (1964)."""
    losses = []
    for b in range(len(actions)):
        if double:
            preferred = max(range(q.shape[1]), key=lambda a: q_next[b, a])
            bootstrap = q_target[b, preferred]
        else:
            bootstrap = max(q_target[b])
        target = rewards[b] if terminals[b] else rewards[b] + discount * bootstrap
        error = target - q[b, actions[b]]
        if huber and abs(error) > 1.0:
            losses.append(abs(error) - 0.5)
        else:
            losses.append(0.5 * error * error)
    return sum(losses) / len(losses), losses


def test_hand_computed(backend):
    q = [[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]]
    batch = [q, [1, 0, 0], [1.0, -1.0, 0.0], [False, True, False]]
    q_next, q_target = [[0.0, 1.0], [5.0, 5.0], [2.0, 1.0]], [[4.0, 2.0], [9.0, 9.0], [1.0, 6.0]]
    # Double: the online network prefers actions 1 and 0; targets 1 + 0.5*2 = 2, -1, 0 + 0.5*1 = 0.5.
    # Errors 0, -1.5, -2.5: half squares 0, 1.125, 3.125; Huber 0, 1.0, 2.0.
    for huber, items in ((False, [0.0, 1.125, 3.125]), (True, [0.0, 1.0, 2.0])):
        test = ComponentTest(DQNLoss(0.5, True, huber), spaces(2), backend=backend)
        test.test(("loss", [*batch, q_next, q_target]), expected_outputs=(sum(items) / 3, items, sizes))
    # Not double: targets 1 + 0.5*4 = 3, -1, 0.5*6 = 3; errors 1, -1.5, 0: half squares 0.5, 1.125, 0; Huber 0.5, 1, 0.
    for huber, items in ((False, [0.5, 1.125, 0.0]), (True, [0.5, 1.0, 0.0])):
        test = ComponentTest(DQNLoss(0.5, False, huber), spaces(2), backend=backend)
        test.test(("loss", [*batch, q_next, q_target]), expected_outputs=(sum(items) / 3, items, sizes))


@pytest.mark.parametrize(("double", "huber"), list(itertools.product([True, False], repeat=2)))
def test_against_a_loop(double, huber, backend):
    test = ComponentTest(DQNLoss(0.9, double, huber), spaces(4), backend=backend)
    for batch in (1, 17):
        rng = np.random.default_rng(batch)
        q, q_next, q_target = rng.normal(size=(3, batch, 4)).astype(np.float32) * 2.0
        actions, terminals = rng.integers(0, 4, batch), rng.random(batch) < 0.4
        rewards = rng.normal(size=batch).astype(np.float32)
        arguments = [q, actions, rewards, terminals, q_next, q_target]
        expected = by_hand(0.9, double, huber, *arguments)
        mean, items = test.test(("loss", arguments), expected_outputs=expected, decimals=5)
        assert (mean.shape, items.shape) == ((), (batch,))


def test_the_default_is_double_and_squared():
    loss = DQNLoss()
    assert (loss.discount, loss.double_q, loss.huber_loss) == (0.99, True, False)


@pytest.mark.parametrize("discount", [-0.1, 1.1])
def test_wrong_discount(discount):
    with pytest.raises(SpecError, match=r"loss.discount: expected a number in \[0, 1\]"):
        DQNLoss(discount)


def test_infinite_values_of_the_next_state_do_not_matter_at_the_end(backend):
    test = ComponentTest(DQNLoss(0.5), spaces(2), backend=backend)
    bad = [[np.inf, np.nan]]
    test.test(("loss", [[[1.0, 2.0]], [0], [3.0], [True], bad, bad]), expected_outputs=(2.0, [2.0]))
