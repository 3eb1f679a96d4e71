"""What is in items of weight 0 changes no bit of a loss or of a derivative."""

from dataclasses import replace

import numpy as np
import pytest

from rlgraph.components import LossFunction
from rlgraph.core import GraphExecutor
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.cases import CASES
from rlgraph.testing.conformance.components import samples

LOSSES = {
    name: case
    for name, case in CASES.items()
    if isinstance(case.make(), LossFunction) and case.methods[0] == "loss"
}
GARBAGE = (np.nan, np.inf, -1e30)


def prepared(case):
    """Spaces and arguments, with weights of which every other one is 0."""
    name = next(name for name in ("rewards", "state_values", "parameters") if name in case.spaces)
    box = next(iter(case.spaces[name].flatten().values()))
    items = FloatBox(0.0, 1.0).with_extra_ranks(
        box.has_batch_rank, 4 if box.has_time_rank else False, time_major=box.time_major
    )
    case = replace(case, spaces={**case.spaces, "weights": items})
    given = samples(case, "float32")
    given["weights"].reshape(-1)[::2] = 0.0
    return case.spaces, given


def with_garbage(value, weights, bad):
    """An argument, with garbage in all items of weight 0."""
    if isinstance(value, dict):
        return {name: with_garbage(part, weights, bad) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(with_garbage(part, weights, bad) for part in value)
    value = np.array(value)
    if value.shape[: weights.ndim] == weights.shape:
        value[weights == 0.0] = {"f": bad, "b": True}.get(value.dtype.kind, 77)
    return value


def variants(given):
    """The arguments, and with each kind of garbage."""
    yield given
    for bad in GARBAGE:
        yield {
            name: value if name == "weights" else with_garbage(value, given["weights"], bad)
            for name, value in given.items()
        }


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    spaces, given = prepared(LOSSES[name])
    executor = GraphExecutor(LOSSES[name].make(), spaces, backend="numpy")
    with np.errstate(all="ignore"):  # NumPy warns of NaN that is thrown away
        expected, *others = (executor.execute("loss", **arguments) for arguments in variants(given))
    assert all(np.isfinite(number).all() for number in expected.values())
    assert not np.any(expected["loss_per_item"][given["weights"] == 0.0])
    for other in others:
        for key, number in expected.items():
            np.testing.assert_array_equal(other[key], number, err_msg=key)


#: A case of each loss, an argument through which it is derived, and the number that is derived.
DERIVATIVES = [
    ("actor_critic_loss", "log_probs", "loss"),
    ("ppo_loss_all_options", "log_probs", "loss"),
    ("ppo_loss", "state_values", "loss"),
    ("sac_loss", "log_probs_sampled", "actor_loss"),
    ("td3_loss", "q_values_policy", "actor_loss"),
    ("dqn_loss", "q_values", "loss"),
    ("dqfd_loss", "q_values", "loss"),
    ("quantile_dqn_loss", "q_values", "loss"),
    ("categorical_cross_entropy_loss", "parameters", "loss"),
    ("euclidian_distance_loss", "parameters", "loss"),
]


@pytest.mark.parametrize(("name", "by", "part"), DERIVATIVES)
def test_derivatives(name, by, part, derivative, trainer):
    spaces, given = prepared(LOSSES[name])
    make = LOSSES[name].make
    expected, *others = (derivative(make(), spaces, each, by, trainer, part) for each in variants(given))
    assert expected.any()
    for other in others:
        np.testing.assert_array_equal(other, expected)
