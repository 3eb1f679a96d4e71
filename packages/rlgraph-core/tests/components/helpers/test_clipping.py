import pytest

from rlgraph.components import Clipping
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

REWARDS = FloatBox(add_batch_rank=True)


def test_values_are_limited(backend):
    test = ComponentTest(Clipping(1.5), {"values": REWARDS}, backend=backend)
    test.test("clip_if_needed", [-2.0, -1.0, 0.0, 1.5, 9.0], expected_outputs=[-1.5, -1.0, 0.0, 1.5, 1.5])


def test_zero_is_no_limit(backend):
    test = ComponentTest(Clipping(), {"values": REWARDS}, backend=backend)
    test.test("clip_if_needed", [-2.0, 9.0], expected_outputs=[-2.0, 9.0])


def test_containers(backend):
    test = ComponentTest(Clipping(1), {"values": Dict(a=REWARDS, b=REWARDS)}, backend=backend)
    test.test("clip_if_needed", {"a": [2.0], "b": [-2.0]}, expected_outputs={"a": [1.0], "b": [-1.0]})


@pytest.mark.parametrize("value", [-1.0, float("nan"), "1", True])
def test_wrong_limit(value):
    with pytest.raises(SpecError, match="clipping.clip_value: expected a number"):
        Clipping(value)


def test_integers_are_no_floats():
    integers = Dict(a=REWARDS, b=IntBox(add_batch_rank=True))
    with pytest.raises(SpaceError, match="clipping: values/b: expected a FloatBox.*convert_type"):
        ComponentTest(Clipping(1.0), {"values": integers}, backend="numpy")
