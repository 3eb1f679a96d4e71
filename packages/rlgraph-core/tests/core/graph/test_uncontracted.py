"""`contract=False`: calls of API methods stay calls, for debuggers and profiles."""

import sys

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


class Inner(Component):
    @rlgraph_api
    def call(self, x):
        return {"double": self._double(x), "half": self._half(x)}

    @graph_fn
    def _double(self, ops, x):
        return x * 2.0

    @graph_fn
    def _half(self, ops, x):
        return x * 0.5


class Outer(Component):
    def __init__(self):
        self.inner = Inner(scope="inner")
        super().__init__(self.inner, scope="outer")

    @rlgraph_api
    def run(self, x):
        parts = self.inner.call(x)
        return self._sum(parts["double"], parts["half"])

    @rlgraph_api
    def twice(self, x):
        return self.inner.call(x)["double"], self.inner.call(x)["double"]

    @rlgraph_api
    def repeated(self, x):
        return loop(2, lambda i, y: self.inner.call(y)["double"], x)

    @graph_fn
    def _sum(self, ops, x, y):
        return x + y


class Fit(Component):
    def __init__(self):
        self.layer = Dense(1, scope="layer")
        self.optimizer = Adam(learning_rate=0.1, scope="optimizer")
        super().__init__(self.layer, self.optimizer, scope="fit")

    @rlgraph_api
    def update(self, x):
        loss = self._loss(self.layer.call(x))
        self.optimizer.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y))


def made(root, backend, **options):
    return GraphExecutor(root, {"x": FloatBox(shape=(2,), add_batch_rank=True)}, backend=backend, **options)


def segment(executor, method):
    return executor.program(method).__globals__["segment_0"].__source__


def test_the_source_has_a_function_for_every_call():
    executor = made(Outer(), "numpy", contract=False)
    ids = [node.id for node in executor.plan("run").nodes]
    assert segment(executor, "run") == (
        "def run__segment_0(x):\n"
        "    def inner__call(x):\n"
        f"        v{ids[0]} = inner__double(x)\n"
        f"        v{ids[1]} = inner__half(x)\n"
        f"        return v{ids[0]}, v{ids[1]}\n"
        f"    v{ids[0]}, v{ids[1]} = inner__call(x)\n"
        f"    v{ids[2]} = outer__sum(v{ids[0]}, v{ids[1]})\n"
        f"    return asarray(v{ids[2]}),\n"
    )


def test_nothing_is_merged():
    assert len(made(Outer(), "numpy").plan("twice").nodes) == 1
    assert len(made(Outer(), "numpy", contract=False).plan("twice").nodes) == 2


def test_a_call_is_a_frame_with_its_own_name():
    executor = made(Outer(), "numpy", contract=False)
    names = []

    def note(frame, event, argument):
        names.append(frame.f_code.co_name)

    executor.program("run")
    sys.setprofile(note)
    try:
        executor.execute("run", X)
    finally:
        sys.setprofile(None)
    called = [name for name in names if name in ("run", "run__segment_0", "inner__call", "_double", "_sum")]
    assert list(dict.fromkeys(called)) == ["run", "run__segment_0", "inner__call", "_double", "_sum"]


@pytest.mark.parametrize("method", ["run", "twice", "repeated"])
def test_it_computes_the_same(backend, method):
    contracted, real = (made(Outer(), backend, contract=c).execute(method, X) for c in (True, False))
    np.testing.assert_array_equal(np.asarray(contracted), np.asarray(real))


def test_it_learns_the_same(trainer):
    executors = [made(Fit(), trainer, contract=c, execution_spec={"dtype": "float64"}) for c in (True, False)]
    losses = [[float(executor.execute("update", X)) for _ in range(5)] for executor in executors]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-12)
    assert losses[0][-1] < losses[0][0]
