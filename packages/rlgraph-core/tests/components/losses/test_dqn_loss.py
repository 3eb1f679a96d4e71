import itertools

import numpy as np
import pytest

from rlgraph.components import DQNLoss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
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


def check(test, arguments, loss, per_item, sizes, decimals=6):
    """Both methods, on the same arguments."""
    if not isinstance(arguments, dict):
        arguments = dict(zip([*spaces(2), "discounts", "weights"], arguments, strict=False))
    outputs = test.test(
        ("loss", arguments), expected_outputs={"loss": loss, "loss_per_item": per_item}, decimals=decimals
    )
    errors = {name: value for name, value in arguments.items() if name != "weights"}
    test.test(("get_td_errors", errors), expected_outputs=sizes, decimals=decimals)
    return outputs


def by_hand(discount, double, huber, q, actions, rewards, terminals, q_next, q_target):
    """Mnih et al. (2015), Algorithm 1; van Hasselt et al. (2016), eq. 4; Huber (1964)."""
    losses, sizes = [], []
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
        sizes.append(abs(error))
    return sum(losses) / len(losses), losses, sizes


def test_hand_computed(backend):
    q = [[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]]
    batch = [q, [1, 0, 0], [1.0, -1.0, 0.0], [False, True, False]]
    q_next, q_target = [[0.0, 1.0], [5.0, 5.0], [2.0, 1.0]], [[4.0, 2.0], [9.0, 9.0], [1.0, 6.0]]
    # Double: the online network prefers actions 1 and 0; targets 1 + 0.5*2 = 2, -1, 0 + 0.5*1 = 0.5.
    sizes = [0.0, 1.5, 2.5]
    # Errors 0, -1.5, -2.5: half squares 0, 1.125, 3.125; Huber 0, 1.0, 2.0.
    for huber, items in ((False, [0.0, 1.125, 3.125]), (True, [0.0, 1.0, 2.0])):
        test = ComponentTest(DQNLoss(0.5, True, huber), spaces(2), backend=backend)
        check(test, [*batch, q_next, q_target], sum(items) / 3, items, sizes)
    sizes = [1.0, 1.5, 0.0]
    # Not double: targets 1 + 0.5*4 = 3, -1, 0.5*6 = 3; errors 1, -1.5, 0: half squares 0.5, 1.125, 0; Huber 0.5, 1, 0.
    for huber, items in ((False, [0.5, 1.125, 0.0]), (True, [0.5, 1.0, 0.0])):
        test = ComponentTest(DQNLoss(0.5, False, huber), spaces(2), backend=backend)
        check(test, [*batch, q_next, q_target], sum(items) / 3, items, sizes)


def h(x):
    """Pohlen et al. (2018), proposition A.2; the slope of R2D2."""
    return np.sign(x) * (np.sqrt(abs(x) + 1) - 1) + 1e-3 * x


def test_rescaled_values(backend):
    """The network's values are h(Q): values 80 and -30 of the next states are seen as h(80) and h(-30)."""
    q_target = [[h(80.0), h(50.0)], [h(-30.0), h(-40.0)], [0.0, h(1e4)]]
    batch = [[[2.0, 0.0]] * 3, [0, 0, 0], [1.0, -1.0, 4.0], [False, False, True], q_target, q_target]
    errors = [h(1.0 + 0.5 * 80) - 2.0, h(-1.0 - 0.5 * 30) - 2.0, h(4.0) - 2.0]
    items = [0.5 * error**2 for error in errors]
    test = ComponentTest(DQNLoss(0.5, value_rescaling=True), spaces(2), backend=backend)
    check(test, batch, sum(items) / 3, items, [abs(error) for error in errors], decimals=3)


def test_parts_that_share_rescaled_values(backend):
    """The shared target is made of the mean of values, not of rescaled ones: (80 + 0) / 2."""
    space = Dict(a=IntBox(2), b=IntBox(2))
    parts = Dict({key: FloatBox(shape=(2,)) for key in "ab"}, add_batch_rank=True)
    loss = DQNLoss(0.5, action_space=space, shared_container_action_target=True, value_rescaling=True)
    values = {"q_values": parts, "actions": space.with_batch_rank(), "q_next": parts, "q_next_target": parts}
    test = ComponentTest(loss, {**spaces(2), **values}, backend=backend)
    following = {"a": [[h(80.0), h(50.0)]], "b": [[0.0, h(-40.0)]]}
    taken = {"q_values": {"a": [[2.0, 0.0]], "b": [[0.0, 1.0]]}, "actions": {"a": [0], "b": [1]}}
    rest = {"rewards": [1.0], "terminals": [False], "q_next": following, "q_next_target": following}
    errors = [h(1.0 + 0.5 * 40.0) - 2.0, h(1.0 + 0.5 * 40.0) - 1.0]
    item = sum(0.5 * error**2 for error in errors) / 2
    check(test, {**taken, **rest}, item, [item], [sum(errors) / 2], decimals=3)


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
        outputs = check(test, arguments, *expected, decimals=5)
        mean, items = outputs["loss"], outputs["loss_per_item"]
        assert (mean.shape, items.shape) == ((), (batch,))


def test_the_default_is_double_and_squared():
    loss = DQNLoss()
    assert (loss.discount, loss.double_q, loss.huber_loss) == (0.99, True, False)


def test_infinite_values_of_the_next_state_do_not_matter_at_the_end(backend):
    test = ComponentTest(DQNLoss(0.5), spaces(2), backend=backend)
    bad = [[np.inf, np.nan]]
    check(test, [[[1.0, 2.0]], [0], [3.0], [True], bad, bad], 2.0, [2.0], [2.0])


# Weights, n steps.

Q, Q_NEXT, Q_TARGET = [[1.0, 2.0], [0.5, 0.0]], [[0.0, 1.0], [2.0, 1.0]], [[4.0, 2.0], [1.0, 6.0]]
FLOATS = FloatBox(add_batch_rank=True)


def test_importance_weights_multiply_the_loss_not_the_error(backend):
    """Schaul et al. (2016), Algorithm 1, line 13: the gradient is weighted, w * delta * grad Q."""
    test = ComponentTest(DQNLoss(0.5), {**spaces(2), "discounts": FLOATS, "weights": FLOATS}, backend=backend)
    # Targets 1 + 0.5*2 = 2 and -1 + 0.5*1 = -0.5; errors 2 - 1 = 1 and -0.5 - 0 = -0.5; half squares 0.5 and 0.125.
    arguments = [Q, [0, 1], [1.0, -1.0], [False, False], Q_NEXT, Q_TARGET, [0.5, 0.5], [0.5, 2.0]]
    check(test, arguments, (0.25 + 0.25) / 2, [0.5, 0.125], [1.0, 0.5])


def test_discounts_take_the_place_of_the_discount(backend):
    test = ComponentTest(DQNLoss(0.5, huber_loss=True), {**spaces(2), "discounts": FLOATS}, backend=backend)
    # Targets 1 + 0.25*2 = 1.5 and, terminal, -1; errors 0.5 and -1; Huber 0.125 and 0.5.
    arguments = {
        **dict(zip(spaces(2), [Q, [0, 1], [1.0, -1.0], [False, True], Q_NEXT, Q_TARGET], strict=True)),
        "discounts": [0.25, 0.9],
    }
    check(test, arguments, 0.3125, [0.125, 0.5], [0.5, 1.0])


# Container actions.

PARTS = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(2, shape=(2,))))
PART_VALUES = Dict(
    jump=FloatBox(shape=(2,)), move=Tuple(FloatBox(shape=(3,)), FloatBox(shape=(2, 2))), add_batch_rank=True
)
PART_SPACES = {
    "q_values": PART_VALUES,
    "actions": PARTS.with_batch_rank(),
    "rewards": FLOATS,
    "terminals": BoolBox(add_batch_rank=True),
    "q_next": PART_VALUES,
    "q_next_target": PART_VALUES,
}
# One transition; four parts: jump, the first move, and both elements of the second.
TAKEN = {
    "q_values": {"jump": [[1.0, 0.0]], "move": ([[0.0, 3.0, 0.0]], [[[0.0, 2.0], [1.0, 0.0]]])},
    "actions": {"jump": [False], "move": ([1], [[1, 1]])},
    "rewards": [1.0],
    "terminals": [False],
}
ONLINE = {"jump": [[0.0, 1.0]], "move": ([[1.0, 0.0, 0.0]], [[[1.0, 0.0], [0.0, 1.0]]])}
TARGET = {"jump": [[9.0, 2.0]], "move": ([[4.0, 9.0, 9.0]], [[[0.0, 9.0], [9.0, 6.0]]])}
# Values of what was done 1, 3, 2, 0. Next values, the target's of what the online network prefers: 2, 4, 0, 6.
# With discount 0.5: targets 2, 3, 1, 4, errors 1, 0, -1, 4. Shared: the mean 3, target 2.5, errors 1.5, -0.5, 0.5, 2.5.


@pytest.mark.parametrize(
    ("options", "loss", "size"),
    [
        ({}, (0.5 + 0.0 + 0.5 + 8.0) / 4, 6.0 / 4),
        ({"huber_loss": True}, (0.5 + 0.0 + 0.5 + 3.5) / 4, 6.0 / 4),
        ({"shared_container_action_target": True}, (1.125 + 0.125 + 0.125 + 3.125) / 4, 5.0 / 4),
        ({"td_aggregation": "mean_error"}, 0.5 * (4.0 / 4) ** 2, 4.0 / 4),
        ({"td_aggregation": "mean_error", "shared_container_action_target": True}, 0.5, 1.0),
        # Not double: next values 9, 9, 9, 9; targets 5.5, errors 4.5, 2.5, 3.5, 5.5.
        ({"double_q": False}, 0.5 * (4.5**2 + 2.5**2 + 3.5**2 + 5.5**2) / 4, 16.0 / 4),
    ],
)
def test_container_actions(options, loss, size, backend):
    test = ComponentTest(DQNLoss(0.5, action_space=PARTS, **options), PART_SPACES, backend=backend)
    arguments = {**TAKEN, "q_next": ONLINE, "q_next_target": TARGET}
    check(test, arguments, loss, [loss], [size], decimals=5)


def test_a_terminal_ends_all_parts(backend):
    test = ComponentTest(DQNLoss(0.5, action_space=PARTS), PART_SPACES, backend=backend)
    arguments = {**TAKEN, "terminals": [True], "q_next": ONLINE, "q_next_target": TARGET}
    # All targets 1; errors 0, -2, -1, 1.
    check(test, arguments, 0.75, [0.75], [1.0], decimals=5)


@pytest.mark.parametrize("space", [BoolBox(), IntBox(2, dtype="uint8"), IntBox(2, dtype="int32")])
def test_one_action_of_another_type_is_the_same(space, backend):
    actions = np.array([1, 0], space.dtype)
    test = ComponentTest(
        DQNLoss(0.5, action_space=space), {**spaces(2), "actions": space.with_batch_rank()}, backend=backend
    )
    plain = ComponentTest(DQNLoss(0.5), spaces(2), backend=backend)
    rest = [[1.0, -1.0], [False, False], Q_NEXT, Q_TARGET]
    expected = plain.test(("loss", [Q, actions.astype(np.int64), *rest]))
    test.test(("loss", [Q, actions, *rest]), expected_outputs=expected)


def test_elements_with_different_numbers_of_actions(backend):
    actions = IntBox([2, 3])
    values = FloatBox(shape=(2, 3), add_batch_rank=True)
    given = {**spaces(3), **dict.fromkeys(("q_values", "q_next", "q_next_target"), values)}
    given["actions"] = actions.with_batch_rank()
    test = ComponentTest(DQNLoss(0.5, action_space=actions), given, backend=backend)
    low = -1e9
    q = [[[1.0, 3.0, low], [0.0, 0.0, 2.0]]]
    # Errors 1 - 3 and 1 - 2 at the end of an episode.
    batch = dict.fromkeys(("q_values", "q_next", "q_next_target"), q)
    batch |= {"actions": [[1, 2]], "rewards": [1.0], "terminals": [True]}
    check(test, batch, 1.25, [(2.0 + 0.5) / 2], [1.5])
