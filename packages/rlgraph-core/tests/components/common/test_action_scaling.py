"""Actions in -1..1, by hand."""

import numpy as np
import pytest

from rlgraph.components import SACValueNetwork
from rlgraph.components.common.action_scaling import ActionScaling, log_half_ranges, scaled_space
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing import ComponentTest

PARTS = Dict(
    far=FloatBox(1000.0, 1001.0, shape=(2,)),
    each=Tuple(FloatBox([-0.01, 0.0, -1.0], [0.01, 5.0, None]), FloatBox(-1.0, 1.0)),
    open=FloatBox(0.0, None),
    choice=IntBox(3),
    flag=BoolBox(),
)
ACTIONS = {
    "far": np.float32([[1000.0, 1001.0], [1000.5, 1000.75]]),
    "each": (np.float32([[0.005, 5.0, 7.0], [-0.01, 2.5, -1.0]]), np.float32([-1.0, 0.3])),
    "open": np.float32([9.0, 0.0]),
    "choice": np.array([2, 0]),
    "flag": np.array([True, False]),
}
SCALED = {
    "far": np.float32([[-1.0, 1.0], [0.0, 0.5]]),
    "each": (np.float32([[0.5, 1.0, 7.0], [-1.0, 0.0, -1.0]]), np.float32([-1.0, 0.3])),
    "open": np.float32([9.0, 0.0]),
    "choice": np.array([2, 0]),
    "flag": np.array([True, False]),
}


def scaling(space, backend, component=None):
    return ComponentTest(
        component or ActionScaling(),
        {"actions": space.with_batch_rank()},
        action_space=space,
        backend=backend,
    )


def test_each_element_by_its_own_bounds(backend):
    test = scaling(PARTS, backend)
    test.test(("scale", [ACTIONS]), expected_outputs=SCALED, decimals=6)
    test.test(("restore", [SCALED]), expected_outputs=ACTIONS, decimals=3)


def test_no_precision_is_lost(backend):
    """Neighbouring single-precision numbers between 1000 and 1001 are 2^-14 apart: all stay apart, and exact."""
    given = np.float32(1000.0 + np.arange(2**14 + 1) / 2**14)
    scaled = scaling(FloatBox(1000.0, 1001.0), backend).test("scale", given)
    np.testing.assert_array_equal(scaled, np.arange(2**14 + 1) / 2**13 - 1.0)


def test_without_an_action_space_nothing_changes(backend):
    test = ComponentTest(
        ActionScaling(), {"actions": FloatBox(1000.0, 1001.0, add_batch_rank=True)}, backend=backend
    )
    test.test(("scale", np.float32([1000.0])), expected_outputs=np.float32([1000.0]))


def test_an_empty_range_is_0(backend):
    scaled = scaling(FloatBox([0.0, 2.0], [1.0, 2.0]), backend).test("scale", np.float32([[1.0, 2.0]]))
    np.testing.assert_array_equal(scaled, [[1.0, 0.0]])


def test_spaces_and_volumes():
    assert scaled_space(PARTS) == Dict(
        far=FloatBox(-1.0, 1.0, shape=(2,)),
        each=Tuple(FloatBox([-1.0, -1.0, -1.0], [1.0, 1.0, None]), FloatBox(-1.0, 1.0)),
        open=FloatBox(0.0, None),
        choice=IntBox(3),
        flag=BoolBox(),
    )
    assert log_half_ranges(PARTS) == pytest.approx(2 * np.log(0.5) + np.log(0.01) + np.log(2.5))


@pytest.mark.parametrize("scaled", [True, False])
def test_critics(scaled, backend):
    """The value of an action at far bounds is that of the same action in -1..1, and so is its gradient's direction."""
    states = np.float32([[0.1, -0.2], [0.3, 0.0]])
    values = []
    for space, actions in ((PARTS, ACTIONS), (scaled_space(PARTS), SCALED)):
        critic = SACValueNetwork([{"type": "dense", "units": 4, "weights_spec": 0.1}], scale_actions=scaled)
        spaces = {"states": FloatBox(shape=(2,), add_batch_rank=True), "actions": space.with_batch_rank()}
        test = ComponentTest(critic, spaces, action_space=space, backend=backend)
        values.append(test.test("state_action_value", states, actions))
    assert np.allclose(*values, rtol=1e-5) == scaled


def test_the_option_is_a_flag():
    with pytest.raises(SpecError, match="scale_actions: expected true or false, given 1"):
        SACValueNetwork([4], scale_actions=1)
