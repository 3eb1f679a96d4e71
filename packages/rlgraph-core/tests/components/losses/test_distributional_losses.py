import math

import numpy as np
import pytest

from rlgraph.components import CategoricalDQNLoss, DQNLoss, QuantileDQNLoss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
LOW, HIGH, ATOMS = -2.0, 2.0, 5


def spaces(atoms, actions=3):
    values = FloatBox(shape=(actions, atoms), add_batch_rank=True)
    return {
        "q_values": values,
        "actions": IntBox(actions, add_batch_rank=True),
        "rewards": FLOATS,
        "terminals": BoolBox(add_batch_rank=True),
        "q_next": values,
        "q_next_target": values,
    }


def batch(atoms, size=6, actions=3):
    rng = np.random.default_rng(0)
    return {
        **{n: rng.normal(size=(size, actions, atoms)) for n in ("q_values", "q_next", "q_next_target")},
        "actions": rng.integers(0, actions, size),
        "rewards": rng.normal(size=size),
        "terminals": np.arange(size) % 3 == 0,
    }


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def projected(given, b, double, discount):
    """Bellemare et al. (2017), Algorithm 1, step by step."""
    support, spacing = np.linspace(LOW, HIGH, ATOMS), (HIGH - LOW) / (ATOMS - 1)
    chooser = given["q_next" if double else "q_next_target"][b]
    best = int(np.argmax([softmax(row) @ support for row in chooser]))
    probabilities, result = softmax(given["q_next_target"][b, best]), np.zeros(ATOMS)
    for j in range(ATOMS):
        gamma = 0.0 if given["terminals"][b] else discount
        place = (min(max(given["rewards"][b] + gamma * support[j], LOW), HIGH) - LOW) / spacing
        lower, upper = math.floor(place), math.ceil(place)
        if lower == upper:
            result[lower] += probabilities[j]
        else:
            result[lower] += probabilities[j] * (upper - place)
            result[upper] += probabilities[j] * (place - lower)
    return result


@pytest.mark.parametrize("double", [True, False])
def test_c51_against_algorithm_1(double, backend):
    given = batch(ATOMS)
    losses, errors = [], []
    for b in range(6):
        target = projected(given, b, double, 0.9)
        prediction = softmax(given["q_values"][b, given["actions"][b]])
        losses.append(-sum(target * np.log(prediction)))
        errors.append(sum(m * math.log(m / p) for m, p in zip(target, prediction, strict=True) if m > 0.0))
    test = ComponentTest(CategoricalDQNLoss(LOW, HIGH, 0.9, double), spaces(ATOMS), backend=backend)
    test.test(
        ("loss", given), expected_outputs={"loss": np.mean(losses), "loss_per_item": losses}, decimals=5
    )
    test.test(("loss_per_item", given), expected_outputs=losses, decimals=5)
    test.test(("get_td_errors", given), expected_outputs=errors, decimals=5)


def quantile_loss(quantiles, targets, delta):
    """Dabney et al. (2018), eq. 9 and 10."""
    number, total = len(quantiles), 0.0
    for i, quantile in enumerate(quantiles):
        tau = (2 * i + 1) / (2 * number)
        for target in targets:
            error = target - quantile
            if delta:
                huber = 0.5 * error**2 if abs(error) <= delta else delta * (abs(error) - 0.5 * delta)
            else:
                huber = abs(error)
            total += abs(tau - (error < 0.0)) * huber / len(targets)
    return total


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("delta", [1.0, 0.0])
def test_quantiles_against_a_loop(double, delta, backend):
    given = batch(4)
    losses, errors = [], []
    for b in range(6):
        chooser = given["q_next" if double else "q_next_target"][b]
        best = given["q_next_target"][b, int(np.argmax(chooser.mean(axis=1)))]
        targets = given["rewards"][b] + (0.0 if given["terminals"][b] else 0.9) * best
        taken = given["q_values"][b, given["actions"][b]]
        losses.append(quantile_loss(taken, targets, delta))
        errors.append(abs(targets.mean() - taken.mean()))
    test = ComponentTest(QuantileDQNLoss(delta, 0.9, double), spaces(4), backend=backend)
    test.test(
        ("loss", given), expected_outputs={"loss": np.mean(losses), "loss_per_item": losses}, decimals=5
    )
    test.test(("get_td_errors", given), expected_outputs=errors, decimals=5)


def test_one_quantile_is_half_the_huber_loss(backend):
    """A distribution of one atom is its mean: the loss of DQN, times tau = 1/2."""
    given = batch(1)
    plain = {n: value[..., 0] if n.startswith("q_") else value for n, value in given.items()}
    plain_spaces = {
        n: FloatBox(shape=(3,), add_batch_rank=True) if n.startswith("q_") else s
        for n, s in spaces(1).items()
    }
    dqn = ComponentTest(DQNLoss(0.9, double_q=False, huber_loss=True), plain_spaces, backend=backend)
    expected = 0.5 * dqn.test(("loss_per_item", plain))
    test = ComponentTest(QuantileDQNLoss(discount=0.9), spaces(1), backend=backend)
    test.test(("loss_per_item", given), expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("kind", [CategoricalDQNLoss, QuantileDQNLoss])
def test_weights_and_discounts(kind, backend):
    given = batch(ATOMS)
    plain = ComponentTest(kind(discount=0.5), spaces(ATOMS), backend=backend)
    items = plain.test(("loss", given), which="loss_per_item")
    weights = np.arange(1.0, 7.0)
    more = {**spaces(ATOMS), "weights": FLOATS, "discounts": FLOATS}
    test = ComponentTest(kind(discount=0.9), more, backend=backend)
    arguments = {**given, "weights": weights, "discounts": np.full(6, 0.5)}
    test.test(
        ("loss", arguments),
        expected_outputs={"loss": (weights * items).mean(), "loss_per_item": items},
        decimals=5,
    )


@pytest.mark.parametrize("kind", [CategoricalDQNLoss, QuantileDQNLoss])
def test_container_actions_are_averaged(kind, backend):
    """Each element of an action is a learner of its own."""
    given = batch(ATOMS)
    one = ComponentTest(kind(), spaces(ATOMS), backend=backend)
    two_spaces, two = spaces(ATOMS), dict(given)
    both = Dict(a=FloatBox(shape=(3, ATOMS)), b=FloatBox(shape=(2, 3, ATOMS)), add_batch_rank=True)
    rng = np.random.default_rng(1)
    elements = [given]
    for _ in range(2):
        elements.append({n: rng.permutation(given[n]) if n.startswith("q_") else given[n] for n in given})
        elements[-1]["actions"] = rng.integers(0, 3, 6)
    for name in ("q_values", "q_next", "q_next_target"):
        two_spaces[name] = both
        two[name] = {"a": given[name], "b": np.stack([each[name] for each in elements[1:]], axis=1)}
    two_spaces["actions"] = Dict(a=IntBox(3), b=IntBox(3, shape=(2,), dtype="int32"), add_batch_rank=True)
    two["actions"] = {
        "a": given["actions"],
        "b": np.stack([each["actions"] for each in elements[1:]], axis=1).astype("int32"),
    }
    several = ComponentTest(kind(), two_spaces, backend=backend)
    for method in ("loss_per_item", "get_td_errors"):
        expected = np.mean([one.test((method, each)) for each in elements], axis=0)
        several.test((method, two), expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("kind", [CategoricalDQNLoss, QuantileDQNLoss])
def test_only_the_action_taken_learns(kind, derivative, trainer):
    given = batch(ATOMS, size=2)
    by_values = derivative(kind(), spaces(ATOMS), given, "q_values", trainer)
    moved = np.abs(by_values).sum(axis=-1) > 0.0
    np.testing.assert_array_equal(moved, np.arange(3) == np.array(given["actions"])[:, None])
    assert not derivative(kind(), spaces(ATOMS), given, "q_next_target", trainer).any()


def test_the_next_actions_may_be_given(backend):
    """Double Q-learning with the best actions of a policy is double Q-learning."""
    given = batch(ATOMS)
    best = np.argmax(
        [[softmax(row) @ np.linspace(LOW, HIGH, ATOMS) for row in x] for x in given["q_next"]], axis=1
    )
    expected = [projected(given, b, True, 0.9) for b in range(6)]
    chosen = [softmax(given["q_values"][b, given["actions"][b]]) for b in range(6)]
    losses = [-sum(t * np.log(p)) for t, p in zip(expected, chosen, strict=True)]
    test = ComponentTest(
        CategoricalDQNLoss(LOW, HIGH, 0.9),
        {**spaces(ATOMS), "next_actions": IntBox(3, add_batch_rank=True)},
        backend=backend,
    )
    test.test(("loss_per_item", {**given, "next_actions": best}), expected_outputs=losses, decimals=5)
