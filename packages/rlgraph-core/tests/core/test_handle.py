import operator

import numpy as np
import pytest

from rlgraph.core import GraphExecutor, PluginError
from rlgraph.core.graph.emission import Tape, emit_segment
from rlgraph.core.handle import Handle, HandleState, takes_handles, value_of
from rlgraph.core.numpy.backend import DIALECT, NumpyBackend
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.probes import probe


class Values(HandleState):
    """What groups hold, by name."""

    def read(self, handle):
        return self.groups[handle.group][handle.start : handle.stop].reshape(handle.shape)


def state(**groups):
    made = Values(None)
    made.groups = {name: np.array(value) for name, value in groups.items()}
    return made


def test_a_handle_is_a_place_in_a_group():
    values = state(g=[1.0, 2.0, 3.0, 4.0, 5.0])
    handle = Handle(values, "g", 1, 5, (2, 2))
    assert (handle.shape, handle.ndim, handle.size, handle.dtype) == ((2, 2), 2, 4, np.float64)
    assert repr(handle) == "<Handle g[1:5] (2, 2)>"
    assert handle[0].tolist() == [2.0, 3.0]
    assert {handle: 1}[handle] == 1
    values.groups["g"] = np.zeros(5)
    assert handle[1, 1] == 0.0


ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"]


@pytest.mark.parametrize("name", ARITHMETIC)
def test_operators_use_values_on_either_side(name):
    function = getattr(operator, name)
    a, b = np.array([7.0, -7.0, 2.0]), np.array([2.0, 2.0, 3.0])
    x, y = (Handle(state(g=value), "g", 0, 3, (3,)) for value in (a, b))
    for given, expected in (
        (function(x, y), function(a, b)),
        (function(x, b), function(a, b)),
        (function(a, y), function(a, b)),
        (function(2.0, y), function(2.0, b)),
        (function(np.float64(2.0), y), function(2.0, b)),
        (function(x, 2), function(a, 2)),
    ):
        np.testing.assert_array_equal(given, expected)


def test_operators_of_integers_conditions_and_matrices():
    flags, other = np.array([True, False]), np.array([True, True])
    x, y = (Handle(state(g=value), "g", 0, 2, (2,)) for value in (flags, other))
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    matrix = Handle(state(g=m.reshape(-1)), "g", 0, 4, (2, 2))
    for given, expected in (
        (x & y, flags & other),
        (other | x, flags | other),
        (x ^ y, flags ^ other),
        (~x, ~flags),
        (-matrix, -m),
        (matrix @ m, m @ m),
        (m @ matrix, m @ m),
    ):
        np.testing.assert_array_equal(given, expected)


def test_values_in_containers():
    handle = Handle(state(g=[1.0]), "g", 0, 1, (1,))
    found = value_of({"a": [handle, 2], "b": None})
    assert found["a"][0].tolist() == [1.0]
    assert (found["a"][1], found["b"]) == (2, None)


def test_operations_take_handles():
    class Ops(NumpyOps):
        @staticmethod
        def read(variable):
            return variable

    ops = takes_handles(Ops)()
    handle = Handle(state(g=[1.0, 2.0]), "g", 0, 2, (2,))
    assert ops.sum(handle) == 3.0
    assert ops.concat([handle, handle]).tolist() == [1.0, 2.0, 1.0, 2.0]
    assert ops.shape(handle) == (2,)
    assert ops.read(handle) is handle  # the family state gets the handle itself


def test_segments_name_what_they_touch():
    def draw_and_add(self, ops, x):
        ops.assign_add(self.w, x + ops.random_normal(()))
        return ops.astype(ops.read(self.n), "float32") * x

    kinds = {"w": (FloatBox(), 1.0), "n": (IntBox(), 2)}
    plan = GraphExecutor(probe(draw_and_add, variables=kinds), {"x": FloatBox()}, backend="numpy").plan(
        "draw_and_add"
    )
    (segment,), group_of = plan.segments, plan.built.layout.group_of
    assert segment.reads == {group_of["probe/n"]}
    assert segment.writes == {group_of["probe/w"]}
    assert segment.streams == {"probe/~stream"}


def test_a_tape_without_detach_is_refused():
    def double(self, ops, x):
        return x * 2.0

    executor = GraphExecutor(probe(double), {"x": FloatBox()}, backend="numpy")
    plan, backend, storage = executor.plan("double"), executor.backend, executor.storage
    assert isinstance(backend, NumpyBackend)
    linker = backend.linker(storage, storage.handle, storage.block, Tape(lambda blocks, retain: None))
    with pytest.raises(PluginError, match="the dialect of backend 'numpy' has no `detach`"):
        emit_segment(plan, plan.segments[0], DIALECT, linker)
