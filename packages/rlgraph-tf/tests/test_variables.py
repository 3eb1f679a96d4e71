"""Variables inside programs: slices of flat buffers, read and written in program order."""

import gc

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest


class Store(Component):
    """Three float variables that share a buffer, an integer and a bool that have one of their own."""

    def create_variables(self, input_spaces, action_space=None):
        self.a = self.get_variable(
            "a", FloatBox(shape=(2, 2)), initializer=[[1.0, 2.0], [3.0, 4.0]], trainable=False
        )
        self.b = self.get_variable("b", FloatBox(), initializer=5.0, trainable=False)
        self.c = self.get_variable("c", FloatBox(shape=(16,)), initializer=6.0, trainable=False)
        self.count = self.get_variable("count", IntBox())
        self.flag = self.get_variable("flag", BoolBox(shape=(2,)), initializer=False)

    @rlgraph_api
    def read_all(self):
        return self._read()

    @rlgraph_api
    @graph_fn
    def read_c(self, ops):
        return ops.read(self.c)

    @rlgraph_api
    @graph_fn(returns=0)
    def write_c(self, ops, x):
        ops.assign(self.c, x)
        ops.assign_add(self.b, 1.0)

    @rlgraph_api
    def write_and_read(self, x):
        old = self._read()
        self._write_c(x)
        return old, self._read()

    @rlgraph_api
    @graph_fn(returns=3)
    def around(self, ops, y):
        before = ops.read(self.a)
        part = before[0]
        ops.assign(self.a, y)
        ops.assign_add(self.a, self.a + 1.0)
        return before, part, self.a * 1.0

    @rlgraph_api
    @graph_fn(returns=2)
    def operators(self, ops):
        numbers = (
            *(self.b + 1.0, 1.0 + self.b, self.b - 1.0, 1.0 - self.b, self.b * 2.0, 2.0 * self.b),
            *(self.b / 2.0, 2.0 / self.b, self.b // 2.0, 7.0 // self.b, self.b % 3.0, 7.0 % self.b),
            *(self.b**2.0, 2.0**self.b, -self.b, self.b + self.b, ops.sqrt(self.b), ops.maximum(self.b, 9.0)),
            *(ops.sum(self.a), ops.sum(ops.matmul(self.a, self.a)), self.a[1, 0], self.a[..., None][0, 1, 0]),
            ops.sum(self.a @ self.a),
        )
        tests = (self.b < 5.0, self.b <= 5.0, self.b > 5.0, self.b >= 5.0, self.b == 5.0, self.b != 5.0)
        bools = (~self.flag, self.flag & ops.ones_like(self.flag), ops.ones_like(self.flag) | self.flag)
        bools = (*bools, self.flag ^ ops.ones_like(self.flag))
        return ops.stack(numbers), ops.concat([ops.stack(tests), *bools])

    @rlgraph_api
    @graph_fn(returns=2)
    def tick(self, ops):
        ops.assign_add(self.count, 1)
        ops.assign(self.flag, True)
        return ops.read(self.count), ops.read(self.flag)

    @graph_fn
    def _read(self, ops):
        return {"a": ops.read(self.a), "b": ops.read(self.b), "c": ops.read(self.c)}


SPACES = {"x": FloatBox(shape=(16,)), "y": FloatBox(shape=(2, 2))}
A, C = [[1.0, 2.0], [3.0, 4.0]], [6.0] * 16
X = np.arange(16, dtype=np.float32)


@pytest.fixture
def store():
    return ComponentTest(Store(scope="store"), SPACES, backend="tf")


def test_program_without_inputs(store):
    store.test("read_all", expected_outputs={"a": A, "b": 5.0, "c": C})


def test_program_without_outputs(store):
    assert store.test(("write_c", [X])) is None
    store.variable_test({"store/a": A, "store/b": 6.0, "store/c": X})


def test_write_is_seen_by_later_functions_only(store):
    old, new = store.test(("write_and_read", [X]))
    np.testing.assert_array_equal(old["c"], C)
    np.testing.assert_array_equal(new["c"], X)
    assert old["b"] == 5.0 and new["b"] == 6.0


def test_order_inside_a_function(store):
    y = np.full((2, 2), 10.0, np.float32)
    store.test(("around", [y]), expected_outputs=(A, A[0], 2.0 * y + 1.0))
    store.variable_test({"store/a": 2.0 * y + 1.0, "store/b": 5.0, "store/c": C})


def test_operators(store):
    numbers = [6, 6, 4, -4, 10, 10, 2.5, 0.4, 2, 1, 2, 2, 25, 32, -5, 10, np.sqrt(5), 9, 10, 54, 3, 2, 54]
    tests = [False, True, False, True, True, False, True, True, False, False, True, True, True, True]
    store.test("operators", expected_outputs=(numbers, tests))
    store.test("tick", expected_outputs=(1, [True, True]))
    store.test("tick", expected_outputs=(2, [True, True]))


def aligned(values):
    """A copy on an address of which TensorFlow could keep the memory."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    array = memory[start : start + values.nbytes].view(values.dtype)
    array[...] = values
    return array


class Single(Component):
    """One variable that is all of its buffer: an assignment could hand memory on as it is."""

    def create_variables(self, input_spaces, action_space=None):
        self.c = self.get_variable("c", FloatBox(shape=(16,)), initializer=6.0)

    @rlgraph_api
    @graph_fn(returns=0)
    def write(self, ops, x):
        ops.assign(self.c, x)

    @rlgraph_api
    @graph_fn
    def read(self, ops):
        return ops.read(self.c)

    @rlgraph_api
    @graph_fn
    def pass_on(self, ops, x):
        return ops.reshape(x, (16,))


def test_memory_is_nobody_elses():
    test = ComponentTest(Single(scope="single"), {"x": SPACES["x"]}, backend="tf")
    x = aligned(X)
    test.test(("write", [x]))
    x[...] = -1.0
    test.variable_test({"single/c": X})
    given = test.test("read", expected_outputs=X)
    given[...] = -1.0
    test.test("read", expected_outputs=X)
    y = test.test(("pass_on", [x]))
    y[...] = 3.0
    np.testing.assert_array_equal(x, np.full(16, -1.0))


def test_whole_storage():
    test = ComponentTest(Store(scope="store"), SPACES, backend="tf")
    weights = test.executor.get_weights()
    weights["store/a"][...] = 0.0
    test.variable_test({"store/a": A})
    test.executor.set_weights({"store/a": weights["store/a"], "store/count": 3})
    test.variable_test({"store/a": np.zeros((2, 2)), "store/b": 5.0, "store/count": 3})
    assert test.executor.storage.borrow_group(next(iter(test.executor.built.layout.groups))) is None
    program = test.executor.numpy_program("read_c")
    np.testing.assert_array_equal(program(), C)
    test.test(("write_c", [X]))
    np.testing.assert_array_equal(program(), X)


def test_program_keeps_its_variables():
    test = ComponentTest(Store(scope="store"), SPACES, backend="tf")
    program = test.executor.program("read_all")
    del test
    gc.collect()
    np.testing.assert_array_equal(program()["c"], C)


class Native(Component):
    """A kernel that hands variables to TensorFlow's own functions."""

    def create_variables(self, input_spaces, action_space=None):
        self.table = self.get_variable(
            "table", FloatBox(shape=(3, 2)), initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        )
        self.other = self.get_variable("other", FloatBox(shape=(2,)), initializer=1.0)

    @rlgraph_api
    def look_up(self, indices):
        return self._look_up(indices)

    @graph_fn
    def _look_up(self, ops, indices):
        return ops.take(self.table, indices) + self.other

    @_look_up.kernel("tf")
    def _(self, ops, indices):
        assert "table" not in repr(self.table) and "(3, 2)" in repr(self.table)
        assert self.table.dtype == tf.float32 and self.table.size == 6
        return (
            tf.nn.embedding_lookup(tf.convert_to_tensor(self.table), indices) + np.float32(1.0) * self.other
        )


def test_native_functions_take_handles():
    test = ComponentTest(Native(), {"indices": IntBox(3, add_batch_rank=True)}, backend="tf")
    test.test(("look_up", [[2, 0]]), expected_outputs=[[6.0, 7.0], [2.0, 3.0]])
