"""The open sizes of what a host function gives out are its own: nothing says that they are those of the inputs."""

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    GraphExecutor,
    RLGraphError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox

FRAMES = FloatBox(add_batch_rank=True, add_time_rank=True)


def executor(function):
    """A root that calls `function` with an input and both outputs of a host function, all ``[batch, time]``."""

    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return self._use(x, *self._frames(x))

        @graph_fn(host=True, returns=2, spaces=(FRAMES, FRAMES))
        def _frames(self, x):
            return np.ones((2, 3), np.float32), np.full((2, 3), 2.0, np.float32)

        @graph_fn
        def _use(self, ops, x, y, z):
            return function(x, y, z)

    return GraphExecutor(Root(scope="root"), {"x": FRAMES}, backend="numpy")


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (lambda x, y, z: x[:, 0] + y[:, 0], r"B against N\d+"),
        (lambda x, y, z: x[0] + y[0], r"T against T\d+"),
    ],
)
def test_they_are_not_those_of_the_inputs(function, sizes):
    with pytest.raises(BuildError, match=f"do not broadcast: {sizes}"):
        executor(function)


def test_outputs_of_one_call_share_them():
    outputs = executor(lambda x, y, z: y + z).execute("run", np.zeros((5, 4), np.float32))
    np.testing.assert_array_equal(outputs, np.full((2, 3), 3.0))


def test_outputs_of_one_call_that_differ_in_size_are_refused():
    class Root(Component):
        @rlgraph_api(returns=2)
        def run(self, x):
            return self._frames(x)

        @graph_fn(host=True, returns=2, spaces=(FRAMES, {"a": FRAMES}))
        def _frames(self, x):
            return np.ones((2, 3), np.float32), {"a": np.ones((4, 3), np.float32)}

    root = GraphExecutor(Root(scope="root"), {"x": FRAMES}, backend="numpy")
    message = (
        r"host function root._frames: sizes of one name differ: N\d+ is 2 in output 0 \[2, 3\] .* and "
        r"4 in output 1.a \[4, 3\]"
    )
    with pytest.raises(RLGraphError, match=message):
        root.execute("run", np.zeros((5, 4), np.float32))


def test_a_function_without_outputs_returns_nothing():
    class Root(Component):
        @rlgraph_api(returns=0)
        def run(self, x):
            self._note(x)

        @graph_fn(host=True, returns=0, spaces=())
        def _note(self, x):
            return x if x.shape[0] else None

    root = GraphExecutor(Root(scope="root"), {"x": FRAMES}, backend="numpy")
    root.execute("run", np.zeros((0, 4), np.float32))
    with pytest.raises(
        RLGraphError, match=r"host function root._note: it declares returns=0 and returned a ndarray"
    ):
        root.execute("run", np.zeros((5, 4), np.float32))


class ReadsTheShape(Component):
    """A host function between two graph functions, which needs no more than a shape of the first one's result."""

    given = None

    @rlgraph_api
    def run(self, x):
        y = self.doubled(x)
        return self.weighed(y, self.weight(y))

    @graph_fn
    def doubled(self, ops, x):
        return 2.0 * x

    @graph_fn(host=True, spaces=FloatBox(), space_of="y", shape_only=True)
    def weight(self, space, y):
        ReadsTheShape.given = y
        return np.array(10.0 * y.shape[0] + y.ndim, np.float32)

    @graph_fn
    def weighed(self, ops, y, weight):
        return weight * ops.sum(y)


@pytest.mark.parametrize(("size", "segments"), [(4, 1), (True, 2)])
def test_a_function_of_a_fixed_shape_runs_before_the_program(size, segments):
    space = FloatBox(shape=(3,), add_batch_rank=size)
    executor = GraphExecutor(ReadsTheShape(scope="root"), {"x": space}, backend="numpy")
    assert executor.execute("run", np.ones((4, 3), np.float32)) == 42.0 * 24.0
    assert len(executor.plan("run").segments) == segments
    assert isinstance(ReadsTheShape.given, np.ndarray) == (segments == 2)


def test_the_values_are_not_there_where_only_the_shape_is_read():
    class ReadsValues(ReadsTheShape):
        @graph_fn(host=True, spaces=FloatBox(), space_of="y", shape_only=True)
        def weight(self, space, y):
            return y[0, 0]

    space = FloatBox(shape=(3,), add_batch_rank=4)
    executor = GraphExecutor(ReadsValues(scope="root"), {"x": space}, backend="numpy")
    with pytest.raises(TypeError, match="FixedShape"):
        executor.execute("run", np.ones((4, 3), np.float32))


def test_shape_only_needs_the_argument():
    with pytest.raises(AssemblyError, match="shape_only=True needs space_of="):
        graph_fn(host=True, spaces=FloatBox(), shape_only=True)(lambda self, x: x)
