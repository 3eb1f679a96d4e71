import math

import numpy as np
import pytest

from rlgraph.components import IMPALALoss
from rlgraph.core.functional.rewards import soft_asymmetric
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

TIME = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
BOOLS = BoolBox(add_batch_rank=True, add_time_rank=True, time_major=True)
SPACES = {
    **dict.fromkeys(("log_probs", "behaviour_log_probs", "state_values", "rewards", "entropy"), TIME),
    "bootstrap_values": FloatBox(add_batch_rank=True),
    "terminals": BOOLS,
}
STEPS, BATCH = 5, 3


def batch(seed=0):
    rng = np.random.default_rng(seed)
    given = {name: rng.normal(size=(STEPS, BATCH)).astype("float32") for name in SPACES}
    given["bootstrap_values"] = rng.normal(size=BATCH).astype("float32")
    given["terminals"] = rng.random((STEPS, BATCH)) < 0.2
    return given


def test_value_targets(backend):
    """Those from which the loss of the values is made; a step of weight 0 ends a fragment."""
    spaces = {**SPACES, "weights": TIME, "truncations": BOOLS, "bootstrap_values": TIME}
    test = ComponentTest(IMPALALoss(discount=0.9, weight_entropy=0.0), spaces, backend=backend)
    given = {**batch(), "weights": np.ones((STEPS, BATCH), "float32")}
    given["weights"][3, 1] = 0.0
    given["truncations"] = np.zeros((STEPS, BATCH), bool)
    given["bootstrap_values"] = np.ones((STEPS, BATCH), "float32")
    names = ("log_probs", "behaviour_log_probs", "state_values", "bootstrap_values", "rewards", "terminals")
    of_targets = {name: given[name] for name in (*names, "truncations", "weights")}
    targets = test.test(("get_value_targets", of_targets))
    losses = test.test(("loss", given))
    errors = np.where(given["weights"] > 0, targets - given["state_values"], 0.0)
    assert losses["value_loss"] == pytest.approx((0.5 * np.square(errors).sum(axis=0)).mean(), rel=1e-5)


def test_targets_of_a_policy_and_values_without_dropout(backend):
    """One step with ratio 0.5: the target is ``2 + 0.5 (6 - 2)``, the advantage ``0.5 (6 - 2)``."""
    spaces = {**SPACES, "evaluated_log_probs": TIME, "evaluated_values": TIME}
    del spaces["entropy"]
    numbers = {"log_probs": math.log(0.8), "evaluated_log_probs": math.log(0.25), "state_values": 1.0}
    numbers |= {"behaviour_log_probs": math.log(0.5), "evaluated_values": 2.0, "rewards": 6.0}
    given = {name: [[number]] for name, number in numbers.items()}
    given |= {"bootstrap_values": [0.0], "terminals": [[True]]}
    test = ComponentTest(IMPALALoss(weight_entropy=0.0), spaces, backend=backend)
    expected = {"policy_loss": -2.0 * math.log(0.8), "value_loss": 0.5 * (1.0 - 4.0) ** 2}
    losses = test.test(("loss", given))
    assert {name: losses[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def sums(test, given):
    """The losses of the steps, added up for each sequence."""
    return test.test(("loss", given))["loss_per_item"].sum(axis=0)


def by_definition(given, b, steps, discount, rewards):
    """The sum over the steps of one fragment, by the definition of V-trace (eq. 1), weights 1, 0.5 and 0.01."""
    ratios = [math.exp(given["log_probs"][t, b] - given["behaviour_log_probs"][t, b]) for t in steps]
    clipped = [min(1.0, ratio) for ratio in ratios]
    following = [*(given["state_values"][t, b] for t in steps[1:]), given["bootstrap_values"][b]]
    values = [given["state_values"][t, b] for t in steps]
    gammas = [0.0 if given["terminals"][t, b] else discount for t in steps]
    deltas = [
        clipped[i] * (rewards[t, b] + gammas[i] * following[i] - values[i]) for i, t in enumerate(steps)
    ]
    targets = []
    for start in range(len(steps)):
        total, factor = values[start], 1.0
        for i in range(start, len(steps)):
            total += factor * deltas[i]
            factor *= gammas[i] * clipped[i]
        targets.append(total)
    targets.append(given["bootstrap_values"][b])
    loss = 0.0
    for i, t in enumerate(steps):
        advantage = clipped[i] * (rewards[t, b] + gammas[i] * targets[i + 1] - values[i])
        loss -= advantage * given["log_probs"][t, b]
        loss += 0.5 * 0.5 * (targets[i] - values[i]) ** 2 - 0.01 * given["entropy"][t, b]
    return loss


@pytest.mark.parametrize("average", [True, False])
def test_against_the_definition(average, backend):
    given = batch()
    expected = [by_definition(given, b, range(STEPS), 0.9, given["rewards"]) for b in range(BATCH)]
    test = ComponentTest(IMPALALoss(0.9, average_time_steps=average), SPACES, backend=backend)
    mean = np.mean(expected) / (STEPS if average else 1)
    test.test(("loss", given), which="loss", expected_outputs=mean, decimals=4)
    np.testing.assert_allclose(sums(test, given), expected, rtol=1e-4, atol=1e-5)


def test_cut_sequences(backend):
    """What is cut off does not count, and what follows a cut has no influence on what is before."""
    given = batch(1)
    lengths = [5, 3, 1]
    expected = [by_definition(given, b, range(lengths[b]), 0.9, given["rewards"]) for b in range(BATCH)]
    padded = {name: value.copy() for name, value in given.items()}
    for name in ("log_probs", "behaviour_log_probs", "state_values", "rewards", "entropy"):
        padded[name][3:, 1] = padded[name][1:, 2] = 7.0
    spaces = {**SPACES, "sequence_length": IntBox(add_batch_rank=True)}
    test = ComponentTest(IMPALALoss(0.9), spaces, backend=backend)
    given = sums(test, {**padded, "sequence_length": lengths})
    np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [STEPS, 4], ids=["whole", "padded"])
def test_truncations(length, backend):
    """Two fragments in one column are as many as two columns, also with padding behind them."""
    given = batch(2)
    bootstrap = np.zeros((STEPS, BATCH), "float32")
    bootstrap[1], bootstrap[length - 1] = [1.0, 2.0, 3.0], given["bootstrap_values"]
    truncations = np.zeros((STEPS, BATCH), bool)
    truncations[1] = True
    expected = []
    for b in range(BATCH):
        last = by_definition(given, b, range(2, length), 0.9, given["rewards"])
        first = by_definition({**given, "bootstrap_values": bootstrap[1]}, b, range(2), 0.9, given["rewards"])
        expected.append(first + last)
    spaces = {**SPACES, "truncations": BOOLS, "bootstrap_values": TIME}
    arguments = {**given, "bootstrap_values": bootstrap, "truncations": truncations}
    if length < STEPS:
        spaces["sequence_length"], arguments["sequence_length"] = (
            IntBox(add_batch_rank=True),
            [length] * BATCH,
        )
    test = ComponentTest(IMPALALoss(0.9), spaces, backend=backend)
    np.testing.assert_allclose(sums(test, arguments), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("how", ["clamp_one", "soft_asymmetric"])
def test_rewards(how, backend):
    given = batch(3)
    given["rewards"] *= 4.0
    rewards = given["rewards"]
    if how == "clamp_one":
        clipped = np.clip(rewards, -1.0, 1.0)
    else:
        clipped = np.array(
            [[5.0 * math.tanh(r / 5.0) * (0.3 if r < 0.0 else 1.0) for r in row] for row in rewards]
        )
    expected = [by_definition(given, b, range(STEPS), 0.9, clipped) for b in range(BATCH)]
    test = ComponentTest(IMPALALoss(0.9, reward_clipping=how), SPACES, backend=backend)
    np.testing.assert_allclose(sums(test, given), expected, rtol=1e-4, atol=1e-5)


def test_container_actions_have_joint_probabilities(backend):
    given = batch(4)
    parts = Dict(
        a=FloatBox(), b=FloatBox(shape=(2,)), add_batch_rank=True, add_time_rank=True, time_major=True
    )
    names = ("log_probs", "behaviour_log_probs", "entropy")
    rng = np.random.default_rng(0)
    split = {name: {"a": rng.normal(size=(5, 3)), "b": rng.normal(size=(5, 3, 2))} for name in names}
    for name in names:
        given[name] = split[name]["a"] + split[name]["b"].sum(-1)
    expected = [by_definition(given, b, range(STEPS), 0.9, given["rewards"]) for b in range(BATCH)]
    test = ComponentTest(IMPALALoss(0.9), {**SPACES, **dict.fromkeys(names, parts)}, backend=backend)
    np.testing.assert_allclose(sums(test, {**given, **split}), expected, rtol=1e-4, atol=1e-5)


def test_gradients(derivative, trainer):
    """Advantages and targets are fixed. One step, on policy: r + 0.5 * 4 - 1 = 2."""
    arguments = {
        "log_probs": [[-1.0]],
        "behaviour_log_probs": [[-1.0]],
        "state_values": [[1.0]],
        "bootstrap_values": [4.0],
        "rewards": [[1.0]],
        "terminals": [[False]],
        "entropy": [[1.0]],
    }
    for name, expected in (
        ("log_probs", -2.0),
        ("state_values", -0.5 * 2.0),
        ("entropy", -0.01),
        ("behaviour_log_probs", 0.0),
        ("bootstrap_values", 0.0),
        ("rewards", 0.0),
    ):
        given = derivative(IMPALALoss(0.5), SPACES, arguments, name, trainer)
        np.testing.assert_allclose(given.reshape(-1), [expected], rtol=1e-5)


def test_soft_asymmetric():
    given = soft_asymmetric(NumpyOps("float64"), np.array([-100.0, -0.01, 0.0, 0.01, 100.0]))
    np.testing.assert_allclose(given, [-1.5, -0.003, 0.0, 0.01, 5.0], rtol=1e-5)


@pytest.mark.parametrize("per_step", [True, False])
def test_padding(per_step, padding_has_no_derivatives):
    floats = [name for name in SPACES if name not in ("bootstrap_values", "terminals")]
    given = {name: np.array([[0.1, 0.3], [np.nan, 0.2]], "float32") for name in floats}
    given["terminals"] = np.zeros((2, 2), bool)
    given["bootstrap_values"] = np.array([[0.5, 0.5], [np.nan, 0.5]] if per_step else [0.5, 0.5], "float32")
    spaces = {name: space.with_extra_ranks(True, 2, time_major=True) for name, space in SPACES.items()}
    if not per_step:
        spaces["bootstrap_values"] = SPACES["bootstrap_values"]
    padding_has_no_derivatives(IMPALALoss, spaces, given, "log_probs", "state_values", "entropy")
