"""Large buffers are never read as a whole where a few rows or a cursor are wanted."""

import numpy as np

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.graph.plan import Segment
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest

CAPACITY = 2**16


class Ring(Component):
    """A cursor and numbers behind it, which share one buffer, and states in another."""

    def create_variables(self, input_spaces, action_space=None):
        self.states = self.get_variable("states", FloatBox(shape=(CAPACITY, 3)), trainable=False)
        self.numbers = self.get_variable("numbers", IntBox(shape=(CAPACITY,)))
        self.cursor = self.get_variable("cursor", IntBox())

    @rlgraph_api
    @graph_fn
    def insert(self, ops, states):
        indices = ops.random_permutation(ops.shape(states)[0]) + self.cursor
        ops.scatter_update(self.states, indices, states)
        ops.scatter_add(self.numbers, indices, ops.ones_like(indices))
        ops.assign_add(self.cursor, ops.max(ops.ones((1,), "int64")))
        return indices

    @rlgraph_api
    @graph_fn(returns=3)
    def get(self, ops, indices):
        return ops.take(self.states, indices), ops.take(self.numbers, indices), ops.read(self.cursor)


def operations(executor, method):
    (segment,) = (step for step in executor.plan(method).steps if isinstance(step, Segment))
    concrete = executor.backend.trace(executor.plan(method), segment, executor.storage)
    return [operation.type for operation in concrete.graph.get_operations()]


def test_rows_without_the_rest():
    spaces = {"states": FloatBox(shape=(3,), add_batch_rank=True), "indices": IntBox(add_batch_rank=True)}
    executor = ComponentTest(Ring(scope="ring"), spaces, backend="tf").executor
    assert operations(executor, "get").count("ResourceGather") == 3
    assert "ReadVariableOp" not in operations(executor, "get")
    # The only one reads the state of the random stream.
    assert operations(executor, "insert").count("ReadVariableOp") == 1
    states, cursor = np.arange(6, dtype=np.float32).reshape(2, 3), 0
    for cursor in range(3):
        indices = executor.execute("insert", states)
        assert sorted(indices) == [cursor, cursor + 1]
        taken, _, now = executor.execute("get", indices)
        np.testing.assert_array_equal(taken, states)
        assert now == cursor + 1
    np.testing.assert_array_equal(executor.execute("get", np.arange(5))[1], [1, 2, 2, 1, 0])
