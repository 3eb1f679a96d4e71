"""Graph functions without a body: native kernels for some backends, declared outputs."""

import numpy as np
import pytest

from rlgraph.core import (
    BuildError,
    CapabilityError,
    Component,
    GraphExecutor,
    gradients,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, IntBox

STATES = FloatBox(shape=(2,), add_batch_rank=True)


class Native(Component):
    """Twice its input by what the backend calls `sum`, and its variable."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)), initializer=3.0)

    @rlgraph_api
    def run(self, x):
        return self._check(self._weigh(x), x)

    @graph_fn(spaces=lambda self, x: x)
    def _weigh(self, ops, x): ...

    @_weigh.kernel("torch")
    def _torch_weigh(self, ops, x):
        import torch

        return torch.mul(x, self.w)

    @graph_fn
    def _check(self, ops, y, x):
        # The batch rank is that of the argument: the shapes are known to fit.
        return y + x


class Learner(Component):
    def __init__(self):
        self.native = Native(scope="native")
        super().__init__(self.native, scope="root")

    @rlgraph_api
    def run(self, x):
        loss = self._loss(self.native.run(x))
        return self._first(gradients(loss, self.native.variables()))

    @graph_fn
    def _loss(self, ops, y):
        return ops.sum(y)

    @graph_fn
    def _first(self, ops, derivatives):
        return derivatives[0] * 1.0


@pytest.mark.parametrize("use_kernels", [True, False])
def test_it_runs_where_it_has_a_kernel(use_kernels):
    pytest.importorskip("torch")
    spec = {"use_kernels": use_kernels}
    executor = GraphExecutor(Native(scope="root"), {"x": STATES}, backend="torch", execution_spec=spec)
    np.testing.assert_array_equal(executor.execute("run", np.ones((3, 2), np.float32)), np.full((3, 2), 4.0))
    assert [str(value) for value in executor.built.values.values()] == ["float32[B, 2]"] * 3
    with pytest.raises(
        CapabilityError, match="root._weigh has kernels for torch only: it cannot run on numpy"
    ):
        executor.numpy_program("run")


def test_gradients_flow_through_it():
    pytest.importorskip("torch")
    executor = GraphExecutor(Learner(), {"x": STATES}, backend="torch")
    # d/dw sum(x w + x) = sum of x over the batch
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    np.testing.assert_array_equal(executor.execute("run", x), [4.0, 6.0])


def test_the_build_names_the_backends_it_has():
    with pytest.raises(
        BuildError,
        match="native._weigh has no body and no kernel for 'numpy': build with backend='torch', or give it a body",
    ):
        GraphExecutor(Learner(), {"x": STATES}, backend="numpy")


def test_a_kernel_for_the_reference_backend():
    class Ranks(Component):
        @rlgraph_api
        def run(self, x):
            return self._ranks(x)

        @graph_fn(spaces=lambda self, x: IntBox(shape=(2,), add_batch_rank=True))
        def _ranks(self, ops, x):
            """A docstring is no body."""

        @_ranks.kernel("numpy")
        def _numpy_ranks(self, ops, x):
            return np.argsort(np.argsort(x, axis=0), axis=0)

    executor = GraphExecutor(Ranks(scope="root"), {"x": STATES}, backend="numpy")
    assert str(executor.built.value_of(executor.built.graph.results_of("run"))) == "int64[B, 2]"
    x = np.array([[1.0, 5.0], [0.0, 6.0]], np.float32)
    np.testing.assert_array_equal(executor.execute("run", x), [[1, 0], [0, 1]])


def root(spaces, kernels):
    def _f(self, ops, x): ...

    function = graph_fn(spaces=spaces)(_f)
    for backend in kernels:
        function.kernel(backend)(lambda self, ops, x: x)
    members = {"run": rlgraph_api(lambda self, x: self._f(x)), "_f": function}
    return type("Made", (Component,), members)(scope="root")


def test_it_declares_its_outputs():
    with pytest.raises(BuildError, match=r"it has kernels only \(numpy, torch\): declare its outputs"):
        GraphExecutor(root(None, ["torch", "numpy"]), {"x": STATES}, backend="numpy")


def test_neither_body_nor_kernel():
    for spaces, message in ((None, "given None"), (STATES, "neither a body nor a kernel")):
        with pytest.raises(BuildError, match=message):
            GraphExecutor(root(spaces, []), {"x": STATES}, backend="numpy")


@pytest.mark.parametrize(
    ("function", "kernels_only"),
    [
        (lambda self, ops, x: None, True),
        (lambda self, ops, x: 5, False),
        (lambda self, ops, x: x, False),
        (lambda self, ops, x: self.w, False),
        (lambda self, ops, x: ops.exp(x), False),
    ],
)
def test_what_counts_as_a_body(function, kernels_only):
    decorated = graph_fn(function)
    assert not decorated.kernels_only
    decorated.kernel("torch")(lambda self, ops, x: x)
    assert decorated.kernels_only == kernels_only
