"""Layers that train are called once for one batch in an update, although they draw and write."""

import numpy as np
import pytest

from rlgraph.components import Dropout
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.core.graph.trace import updating
from rlgraph.spaces import FloatBox


class Counter(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.calls = self.get_variable("calls", float, trainable=False)

    @rlgraph_api
    def call(self, inputs, training=None):
        return self._count(inputs)

    @graph_fn
    def _count(self, ops, inputs):
        ops.assign_add(self.calls, 1.0)
        return inputs + ops.read(self.calls)


class Root(Component):
    def __init__(self):
        self.dropout, self.counter = Dropout(0.5, scope="dropout"), Counter(scope="counter")
        super().__init__(self.dropout, self.counter, scope="root")

    def _twice(self, x, training):
        return tuple(
            call_layer(self.counter, call_layer(self.dropout, x, training=training), training=training)
            for _ in range(2)
        )

    @rlgraph_api
    def update(self, x):
        with updating(True):
            return self._twice(x, True)

    @rlgraph_api
    def evaluate(self, x):
        with updating(True):
            return self._twice(x, None)

    @rlgraph_api
    def outside(self, x):
        return self._twice(x, True)

    @rlgraph_api
    def around(self, x):
        with updating(True):
            before = self._twice(x, True)[0]
            return before, loop(3, lambda i: ((), self._twice(x, True)), collect=True)[1]


X = np.ones((1, 64), np.float32)


@pytest.fixture(params=[True, False], ids=["contracted", "calls"])
def executor(request, backend):
    return GraphExecutor(
        Root(), {"x": FloatBox(shape=(64,), add_batch_rank=True)}, backend=backend, contract=request.param
    )


def count(executor):
    return executor.get_weights()["counter/calls"]


def test_one_call_in_an_update(executor):
    first, second = executor.execute("update", X)
    np.testing.assert_array_equal(first, second)
    assert count(executor) == 1 and len(np.unique(first)) == 2


def test_each_call_elsewhere(executor):
    executor.execute("evaluate", X)
    assert count(executor) == 2  # it counts, whatever it is told
    first, second = executor.execute("outside", X)
    assert count(executor) == 4 and (first + 1.0 != second).any()


def test_each_iteration_and_each_of_several_updates(executor):
    executor.execute("around", X)
    assert count(executor) == 4
    (first, _), (second, _) = executor.execute([("update", X), ("update", X)])
    assert count(executor) == 6 and (first + 1.0 != second).any()
