import math
from functools import partial

import numpy as np
import pytest

from rlgraph.components import PPOLoss
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

FLOATS = FloatBox(add_batch_rank=True)
NAMES = ("log_probs", "prev_log_probs", "state_values", "prev_state_values", "advantages")
SPACES = dict.fromkeys(NAMES, FLOATS)
WITH_ENTROPY = {**SPACES, "entropy": FLOATS}
#: Ratios 1.5, 1.1, 0.5; advantages 2, -1, -2; values 1, 0, 3; old values 0, 0, 1.
BATCH = {
    "log_probs": np.log([0.3, 0.22, 0.1]),
    "prev_log_probs": np.log([0.2, 0.2, 0.2]),
    "state_values": [1.0, 0.0, 3.0],
    "prev_state_values": [0.0, 0.0, 1.0],
    "advantages": [2.0, -1.0, -2.0],
}
#: With a clip ratio of 0.2: -1.2 * 2, 1.1 * 1, 0.8 * 2.
PG = np.array([-2.4, 1.1, 1.6])
#: Of the ratios, (r - 1) - log r.
KL = np.array([0.5, 0.1, -0.5]) - np.log([1.5, 1.1, 0.5])
#: Targets 2, -1, -1.
VF = np.array([1.0, 1.0, 16.0])


def test_by_hand(backend):
    test = ComponentTest(PPOLoss(), SPACES, backend=backend)
    items = {"loss": PG + VF, "policy_loss": PG, "value_loss": VF, "kl": KL, "clip_fraction": [1, 0, 1]}
    test.test(("loss_per_item", BATCH), expected_outputs=items, decimals=5)
    means = {name: np.mean(values) for name, values in items.items()}
    test.test(("loss", BATCH), expected_outputs={**means, "loss_per_item": PG + VF}, decimals=5)


def test_weights_and_entropy(backend):
    loss = PPOLoss(weight_entropy=0.5, weight_vf=2.0)
    test = ComponentTest(loss, {**WITH_ENTROPY, "weights": FLOATS}, backend=backend)
    items = PG - 0.5 * np.array([1.0, 2.0, 3.0]) + 2.0 * VF
    batch = {**BATCH, "entropy": [1.0, 2.0, 3.0], "weights": [1.0, 0.5, 0.0]}
    expected = {
        "loss": (items[0] + 0.5 * items[1]) / 2,
        "policy_loss": (PG[0] + 0.5 * PG[1]) / 2,
        "value_loss": (VF[0] + 0.5 * VF[1]) / 2,
        "entropy": 1.5,
        "kl": KL[:2].mean(),
        "clip_fraction": 0.5,
        "loss_per_item": [*items[:2], 0.0],
    }
    test.test(("loss", batch), expected_outputs=expected, decimals=5)


@pytest.mark.parametrize(
    ("values", "targets", "expected"),
    [
        ([1.0, 2.0, 4.0, 9.0], [1.0, 2.0, 4.0, np.nan], 1.0),  # the last one does not count
        ([5.0, 5.0, 5.0, 0.0], [1.0, 2.0, 4.0, 0.0], 0.0),  # a constant, however far off
        ([1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 4.0, 0.0], 1.0 - (2 / 9) / (14 / 9)),
        ([4.0, 2.0, 1.0, 0.0], [1.0, 2.0, 4.0, 0.0], 1.0 - 6.0 / (14 / 9)),
        ([1.0, 2.0, 3.0, 0.0], [7.0, 7.0, 7.0, 0.0], 0.0),  # nothing to explain
        ([1e4, 0.0, 0.0, 0.0], [0.0, 1e-18, 0.0, 0.0], 1.0 - 1e6),  # finite, or a run would end
    ],
)
def test_explained_variance(values, targets, expected, backend):
    spaces = dict.fromkeys(("values", "targets", "weights"), FLOATS)
    test = ComponentTest(PPOLoss(), {**SPACES, **spaces}, backend=backend)
    given = {"values": values, "targets": targets, "weights": [1.0, 1.0, 0.5, 0.0]}
    assert test.test(("get_explained_variance", given)) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_value_function_clipping(backend):
    test = ComponentTest(PPOLoss(value_function_clipping=0.5, weight_vf=1.0), SPACES, backend=backend)
    # Values within 0.5 of the old ones: 0.5, 0, 1.5; squares 2.25, 1, 6.25; the larger of both counts.
    expected = [2.25, 1.0, 16.0]
    test.test(("loss_per_item", BATCH), which="value_loss", expected_outputs=expected, decimals=5)


def test_standardized_advantages_are_for_the_policy_only(backend):
    """The targets of the value function are made of the advantages as they are."""
    test = ComponentTest(PPOLoss(standardize_advantages=True), SPACES, backend=backend)
    advantages = np.array(BATCH["advantages"])
    advantages = (advantages - advantages.mean()) / advantages.std()
    ratios = np.array([1.5, 1.1, 0.5])
    pg = -np.minimum(ratios * advantages, np.clip(ratios, 0.8, 1.2) * advantages)
    test.test(("loss_per_item", BATCH), which="loss", expected_outputs=pg + VF, decimals=5)


def test_advantages_of_the_policy_alone(backend):
    test = ComponentTest(PPOLoss(), {**SPACES, "policy_advantages": FLOATS}, backend=backend)
    advantages, ratios = np.array([1.0, -2.0, 3.0]), np.array([1.5, 1.1, 0.5])
    pg = -np.minimum(ratios * advantages, np.clip(ratios, 0.8, 1.2) * advantages)
    batch = {**BATCH, "policy_advantages": advantages}
    test.test(("loss_per_item", batch), which="loss", expected_outputs=pg + VF, decimals=5)


def test_schedules(backend):
    loss = PPOLoss(
        clip_ratio=[0.4, 0.0],
        value_function_clipping=[1.0, 0.0],
        weight_entropy=[1.0, 0.0],
        weight_vf=[2.0, 0.0],
    )
    test = ComponentTest(loss, {**WITH_ENTROPY, "progress": float}, backend=backend)
    batch = {**BATCH, "entropy": [1.0, 2.0, 3.0], "progress": 0.5}
    # Halfway: clip ratio 0.2, values within 0.5, entropy times 0.5, value loss times 1.
    items = PG - 0.5 * np.array([1.0, 2.0, 3.0]) + np.array([2.25, 1.0, 16.0])
    test.test(("loss_per_item", batch), which="loss", expected_outputs=items, decimals=5)


PARTS = Dict(move=FloatBox(), turn=FloatBox(shape=(2,)), add_batch_rank=True)


@pytest.mark.parametrize("ratio_of", ["action", "part"])
def test_container_actions(ratio_of, backend):
    spaces = {**SPACES, "log_probs": PARTS, "prev_log_probs": PARTS, "entropy": PARTS}
    test = ComponentTest(PPOLoss(ratio_of=ratio_of, weight_entropy=0.1), spaces, backend=backend)
    new = {"move": np.log([0.6]), "turn": np.log([[0.3, 0.5]])}
    old = {"move": np.log([0.5]), "turn": np.log([[0.4, 0.5]])}
    batch = {
        "log_probs": new,
        "prev_log_probs": old,
        "advantages": [-2.0],
        "entropy": {"move": [1.0], "turn": [[2.0, 3.0]]},
    }
    if ratio_of == "action":
        # The probability of the whole action went from 0.1 to 0.09.
        expected = 0.9 * 2.0 - 0.1 * 6.0
    else:
        # Ratios 1.2 and 0.75, the second clipped.
        expected = (1.2 * 2.0 + 0.8 * 2.0) / 2 - 0.1 * (1.0 + 5.0) / 2
    batch |= {"state_values": batch["advantages"], "prev_state_values": [0.0]}  # no loss of the values
    test.test(("loss_per_item", batch), which="loss", expected_outputs=[expected], decimals=5)


@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_sequences(time_major, average, backend):
    """Against a loop; what lies behind a sequence does not matter."""
    space = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=time_major)
    spaces = {**dict.fromkeys(NAMES, space), "sequence_length": IntBox(add_batch_rank=True)}
    rng = np.random.default_rng(0)
    batch = {name: rng.normal(size=(3, 4)).astype("float32") for name in NAMES}  # batch, time
    lengths = np.array([4, 2, 1])
    expected = np.zeros((3, 4))
    for b, length in enumerate(lengths):
        for t in range(length):
            new, old, value, old_value, advantage = (float(batch[name][b, t]) for name in NAMES)
            ratio = math.exp(new - old)
            expected[b, t] = -min(ratio * advantage, min(max(ratio, 0.7), 1.3) * advantage)
            expected[b, t] += (value - old_value - advantage) ** 2
    for name in NAMES:
        batch[name][1, 2:] = batch[name][2, 1:] = 1e9
    given = {name: value.T if time_major else value for name, value in batch.items()}
    test = ComponentTest(PPOLoss(clip_ratio=0.3, average_time_steps=average), spaces, backend=backend)
    outputs = test.test(("loss", {**given, "sequence_length": lengths}))
    np.testing.assert_allclose(outputs["loss"], expected.sum() / (7 if average else 3), rtol=1e-4)
    steps = expected.T if time_major else expected
    np.testing.assert_allclose(outputs["loss_per_item"], steps, rtol=1e-4, atol=1e-6)


def test_advantages_are_standardized_without_padding(backend):
    """Advantages 1 and 3 of one sequence and 8 of another: mean 4, variance 26 / 3."""
    space = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {**dict.fromkeys(NAMES, space), "sequence_length": IntBox(add_batch_rank=True)}
    test = ComponentTest(PPOLoss(weight_vf=0.0, standardize_advantages=True), spaces, backend=backend)
    batch = dict.fromkeys(NAMES, np.zeros((2, 2))) | {"sequence_length": [2, 1]}
    deviation = math.sqrt((9.0 + 1.0 + 16.0) / 3.0)
    test.test(
        ("loss", {**batch, "advantages": [[1.0, 8.0], [3.0, np.nan]]}),
        which="loss_per_item",
        expected_outputs=[[3.0 / deviation, -4.0 / deviation], [1.0 / deviation, 0.0]],
        decimals=5,
    )


def test_derivatives_of_ratios_that_overflow(derivative, trainer):
    """Of exp(100) a good action has no derivative, as it is clipped; a bad one is behind the guard of 20, too.

    Of exp(10), which is no overflow, the derivative is that of the formula.
    """
    batch = {
        **BATCH,
        "log_probs": [100.0, 100.0, 10.0],
        "prev_log_probs": [0.0, 0.0, 0.0],
        "advantages": [1.0, -1.0, -1.0],
    }
    found = derivative(PPOLoss(), SPACES, batch, "log_probs", trainer)
    np.testing.assert_allclose(found, [0.0, 0.0, math.exp(10.0) / 3.0], rtol=1e-4)
    numbers = ComponentTest(PPOLoss(), SPACES, backend=trainer).test(("loss_per_item", batch))
    assert all(np.isfinite(x).all() for x in numbers.values())


def test_gradients(derivative, trainer):
    """None where the ratio is clipped; none into what was there before."""
    given = (SPACES, BATCH)
    # Of the unclipped item d/dlogp = -ratio * A = 1.1; the mean divides by 3.
    by_log_probs = derivative(PPOLoss(), *given, "log_probs", trainer)
    np.testing.assert_allclose(by_log_probs, [0.0, 1.1 / 3.0, 0.0], atol=1e-6)
    by_values = derivative(PPOLoss(), *given, "state_values", trainer)
    np.testing.assert_allclose(by_values, np.array([-2.0, 2.0, 8.0]) / 3.0, rtol=1e-5)
    for name in ("prev_log_probs", "prev_state_values", "advantages"):
        assert not derivative(PPOLoss(), *given, name, trainer).any()


@pytest.mark.parametrize("bad", [np.nan, -200.0])
@pytest.mark.parametrize("standardize", [True, False])
def test_padding(bad, standardize, padding_has_no_derivatives):
    """Neither NaN nor probability ratios without end come out of it."""
    steps = FloatBox(add_batch_rank=True, add_time_rank=2, time_major=True)
    batch = {name: np.array([[0.1, 0.3], [bad, 0.2]], "float32") for name in WITH_ENTROPY}
    batch["log_probs"] = np.array([[0.1, 0.3], [0.0, 0.2]], "float32")
    batch["advantages"] = np.array([[1.0, -2.0], [bad, 3.0]], "float32")
    batch["state_values"] = np.array([[0.2, 0.3], [bad, 0.2]], "float32")
    make = partial(
        PPOLoss, weight_entropy=0.1, standardize_advantages=standardize, value_function_clipping=0.5
    )
    spaces = dict.fromkeys(WITH_ENTROPY, steps)
    padding_has_no_derivatives(make, spaces, batch, "log_probs", "state_values", "entropy")
