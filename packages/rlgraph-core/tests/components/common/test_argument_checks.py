"""Numbers given to constructors: Python's and NumPy's, and what is refused."""

import math

import numpy as np
import pytest

from rlgraph.components import LSTM, Adam, Dense, MaxPool2D, Policy, ReplayMemory, Sampler
from rlgraph.components.common.argument_checks import check_flag, check_limit, check_number, check_whole
from rlgraph.components.common.schedules import Schedule
from rlgraph.core import Component, SpecError
from rlgraph.core.component.initializers import resolve_initializer
from rlgraph.spaces import IntBox


@pytest.mark.parametrize("number", [2, np.int64(2), np.int32(2), np.uint8(2)])
def test_integers(number):
    found = check_whole(number, "here", least=2)
    assert type(found) is int
    assert found == 2


@pytest.mark.parametrize("wrong", [True, np.True_, 2.0, np.float32(2.0), "2", None, np.int64(1)])
def test_no_integers(wrong):
    with pytest.raises(SpecError) as error:
        check_whole(wrong, "here", least=2)
    assert str(error.value) == f"here: expected an integer >= 2, given {wrong!r}"


def test_integers_without_bound():
    assert check_whole(np.int8(-3), "here") == -3
    with pytest.raises(SpecError, match="here: expected an integer, given 0.5"):
        check_whole(0.5, "here")


@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.float32(0.5), np.float16(0.5)])
def test_numbers(number):
    found = check_number(number, "here", least=0, most=1)
    assert type(found) is float
    assert found == 0.5
    assert type(check_number(np.int32(3), "here")) is float


@pytest.mark.parametrize(
    "wrong", [True, np.False_, "0.5", None, math.nan, math.inf, np.float32("nan"), [0.5]]
)
def test_no_numbers(wrong):
    with pytest.raises(SpecError) as error:
        check_number(wrong, "here")
    assert str(error.value) == f"here: expected a number, given {wrong!r}"


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "said"),
    [
        ({"least": 0}, (0, 7), (-0.1,), ">= 0"),
        ({"above": 0}, (0.1, 7), (0, -1), "> 0"),
        ({"least": 0, "most": 1}, (0, 1), (-0.1, 1.1), "in [0, 1]"),
        ({"least": 0, "below": 1}, (0, 0.9), (-0.1, 1), "in [0, 1)"),
        ({"above": 0, "most": 1}, (0.1, 1), (0, 1.1), "in (0, 1]"),
        ({"above": 0, "below": 1}, (0.1, 0.9), (0, 1), "in (0, 1)"),
    ],
)
def test_bounds(bounds, inside, outside, said):
    for value in inside:
        assert check_number(value, "here", **bounds) == value
    for value in (*outside, "x", math.nan):
        with pytest.raises(SpecError) as error:
            check_number(value, "here", **bounds)
        assert str(error.value) == f"here: expected a number {said}, given {value!r}"


def test_limits():
    assert check_limit(None, "here") is None
    assert check_limit(np.float32(0.5), "here") == 0.5
    assert check_limit(math.inf, "here") == math.inf
    for wrong in (0, -1.0, True, "1", math.nan):
        with pytest.raises(SpecError) as error:
            check_limit(wrong, "here")
        assert str(error.value) == f"here: expected a number > 0, or None, given {wrong!r}"


def test_flags():
    assert check_flag(np.True_, "here") is True
    assert check_flag(False, "here") is False
    for wrong in (1, 0.0, None, "yes"):
        with pytest.raises(SpecError, match="here: expected true or false, given"):
            check_flag(wrong, "here")


@pytest.mark.parametrize(
    ("made", "name", "value"),
    [
        (lambda: Adam(learning_rate=0.1, beta1=np.float32(0.5)), "beta1", 0.5),
        (lambda: Adam(clip_grad_norm=np.int64(2)), "clip_grad_norm", 2.0),
        (lambda: Dense(np.int32(4)), "units", 4),
        (lambda: LSTM(4, cell_clip=np.float32(0.5)), "cell_clip", 0.5),
        (lambda: Sampler(np.int64(3)), "sample_size", 3),
        (lambda: ReplayMemory(np.int64(3)), "capacity", 3),
        (lambda: MaxPool2D(np.int64(3)), "pool_size", (3, 3)),
        (
            lambda: Policy([{"type": "dense", "units": 2}], IntBox(2), deterministic=np.False_),
            "deterministic",
            False,
        ),
    ],
)
def test_components_take_scalars_of_numpy(made, name, value):
    component: Component = made()
    found = getattr(component, name)
    assert found == value
    assert type(found) is type(value)


def test_schedules_take_scalars_of_numpy():
    assert Adam(learning_rate=np.float32(0.5)).learning_rate.value(0.3) == 0.5
    decay = Adam(learning_rate=["linear", np.float32(0.5), np.int64(0)]).learning_rate
    assert decay.value(0.5) == 0.25
    epsilon = Schedule.from_spec({"type": "ape_x", "worker": np.int64(0), "num_workers": np.int64(3)})
    assert epsilon.value(0.0) == Schedule.from_spec(["ape_x", 0, 3]).value(0.0)


def test_initializers_take_scalars_of_numpy():
    initializer = resolve_initializer({"type": "uniform", "low": np.float32(0.25), "high": np.float32(0.5)})
    values = initializer((50,), "float32", np.random.default_rng(0))
    assert 0.25 <= values.min() < values.max() <= 0.5
