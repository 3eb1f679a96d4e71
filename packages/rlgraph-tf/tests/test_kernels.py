"""Kernels against the single source they replace."""

import numpy as np
import pytest

from rlgraph.components import Adam, AdamW, Dense
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing import ComponentTest

STEPS = 20


class Net(Component):
    def __init__(self, freeze_first):
        self.first = Dense(8, activation="tanh", scope="first", trainable=not freeze_first)
        self.second = Dense(1, scope="second")
        super().__init__(self.first, self.second, scope="net")

    @rlgraph_api
    def loss(self, x):
        return self._loss(self.second.call(self.first.call(x)))

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 3.0))


class Regression(Component):
    """`step` trains all that is trainable or the second layer alone; `step_second` does so with another optimizer."""

    def __init__(self, clip_grad_norm=None, freeze_first=False, kind=Adam):
        self.net = Net(freeze_first)
        self.freeze_first = freeze_first
        self.optimizer = kind(0.01, clip_grad_norm=clip_grad_norm)
        super().__init__(self.net, self.optimizer, scope="regression")

    @rlgraph_api
    def step(self, x):
        loss = self.net.loss(x)
        self.optimizer.step(self.net.second.variables() if self.freeze_first else self.net.variables(), loss)
        return loss


class TwoOptimizers(Regression):
    """The variables of the second layer are stepped by both: they have a buffer of their own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.other = Adam(0.02, beta1=0.8, epsilon=1e-4, scope="other")
        self.add_components(self.other)

    @rlgraph_api
    def step_second(self, x):
        loss = self.net.loss(x)
        self.other.step(self.net.second.variables(), loss)
        return loss


def build(root, dtype, use_kernels):
    spaces = {"x": FloatBox(shape=(3,), add_batch_rank=True)}
    return ComponentTest(
        root, spaces, backend="tf", execution_spec={"dtype": dtype, "use_kernels": use_kernels}
    )


def operations(test, method):
    """The kinds of TensorFlow operations in a program."""
    executor = test.executor
    plan = executor.plan(method)
    graph = executor.backend.trace(plan, plan.steps[0], executor.storage).graph
    return [operation.type for operation in graph.get_operations()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("make", "options", "methods"),
    [
        (Regression, {}, ["step"]),
        (Regression, {"clip_grad_norm": 0.5}, ["step"]),
        (Regression, {"freeze_first": True}, ["step"]),
        (Regression, {"kind": AdamW}, ["step"]),
        (Regression, {"kind": AdamW, "freeze_first": True, "clip_grad_norm": 0.5}, ["step"]),
        (TwoOptimizers, {"clip_grad_norm": 0.5}, ["step", "step_second"]),
    ],
)
def test_adam(make, options, methods, dtype):
    kernel, source = (build(make(**options), dtype, use_kernels) for use_kernels in (True, False))
    start = kernel.executor.get_weights()
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        x = rng.standard_normal((6, 3)).astype(dtype)
        for method in methods:
            losses = [test.executor.execute(method, x) for test in (kernel, source)]
            np.testing.assert_allclose(*losses, rtol=1e-5)
    # In float32 TensorFlow's step has 1 - 0.999 = 0.00099998713: the second moments differ by 1.3e-5 of their size,
    # the way a variable goes by half of that. In float64 it is the same formula to the last digits.
    tolerance = {"rtol": 2e-5, "atol": 4e-6} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-13}
    given, expected = kernel.executor.get_weights(), source.executor.get_weights()
    for name, value in expected.items():
        np.testing.assert_allclose(given[name] - start[name], value - start[name], **tolerance, err_msg=name)
        frozen = options.get("freeze_first") and name.startswith("net/first")
        assert np.array_equal(start[name], value) == bool(frozen), name
    assert given["optimizer/steps"] == STEPS


def test_where_the_kernel_is_used():
    whole = build(Regression(), "float32", True)
    assert operations(whole, "step").count("ResourceApplyAdam") == 1
    assert operations(build(Regression(kind=AdamW), "float32", True), "step").count("ResourceApplyAdam") == 1
    assert "ResourceApplyAdam" not in operations(build(Regression(), "float32", False), "step")
    # Two buffers of variables against one of moments: the moments come in parts.
    two = build(TwoOptimizers(), "float32", True)
    assert "ResourceApplyAdam" not in operations(two, "step")
    assert operations(two, "step_second").count("ResourceApplyAdam") == 1


def test_clipping_by_hand():
    """With a limit of 1 and the first step, Adam moves every weight by the learning rate, whatever the gradient."""
    test = build(Regression(clip_grad_norm=1.0), "float64", True)
    before = test.executor.get_weights()
    test.test(("step", [np.ones((2, 3))]))
    after = test.executor.get_weights()
    squares = sum((after[f"optimizer/first_moments/{n}"] ** 2).sum() for n in before if n.startswith("net/"))
    np.testing.assert_allclose(squares, 0.1**2, rtol=1e-5)  # (1 - beta1) of a gradient of length 1
    np.testing.assert_allclose(
        np.abs(after["net/second/biases"] - before["net/second/biases"]), 0.01, rtol=1e-5
    )
