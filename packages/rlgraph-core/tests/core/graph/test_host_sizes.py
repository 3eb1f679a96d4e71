"""The open sizes of what a host function gives out are its own: nothing says that they are those of the inputs."""

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, GraphExecutor, RLGraphError, graph_fn, rlgraph_api
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
