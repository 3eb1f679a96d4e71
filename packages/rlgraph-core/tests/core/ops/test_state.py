"""Rows of variables: values on every backend, effects, hazards, and the warning of large copies."""

import warnings

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, PerformanceWarning, branch, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing import ComponentTest

INDICES = IntBox(add_batch_rank=True)
ROWS = FloatBox(shape=(2,), add_batch_rank=True)


class Table(Component):
    """A table [4, 2] beside other variables."""

    def __init__(self, trainable):
        self.is_trained = trainable
        super().__init__(scope="table")

    def create_variables(self, input_spaces, action_space=None):
        self.before = self.get_variable(
            "before", FloatBox(shape=(3,)), initializer=7.0, trainable=self.is_trained
        )
        self.table = self.get_variable("table", FloatBox(shape=(4, 2)), trainable=self.is_trained)
        self.zlast = self.get_variable("zlast", FloatBox(), initializer=8.0, trainable=self.is_trained)

    @rlgraph_api
    @graph_fn(returns=0)
    def update(self, ops, indices, values):
        ops.scatter_update(self.table, indices, values)

    @rlgraph_api
    @graph_fn(returns=0)
    def add(self, ops, indices, values):
        ops.scatter_add(self.table, indices, values)

    @rlgraph_api
    @graph_fn
    def take(self, ops, indices):
        return ops.take(self.table, indices)

    @rlgraph_api
    def write_and_take(self, indices, values):
        first = self._take(indices)
        self._add(indices, values)
        return first, self._take(indices)


SPACES = {"indices": INDICES, "values": ROWS}


def made(backend, trainable=False):
    return ComponentTest(Table(trainable=trainable), SPACES, backend=backend)


@pytest.mark.parametrize("trainable", [False, True])
def test_rows(backend, trainable):
    test = made(backend, trainable)
    test.test(("update", [[2, 0], [[1.0, 2.0], [3.0, 4.0]]]))
    test.variable_test({"table/table": [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]})
    # An index that comes twice is added twice.
    test.test(("add", [[2, 3, 2], [[10.0, 20.0], [5.0, 6.0], [100.0, 200.0]]]))
    expected = [[3.0, 4.0], [0.0, 0.0], [111.0, 222.0], [5.0, 6.0]]
    test.variable_test({"table/table": expected, "table/before": [7.0] * 3, "table/zlast": 8.0})
    test.test(("take", [[3, 2, 3]]), expected_outputs=[[5.0, 6.0], [111.0, 222.0], [5.0, 6.0]])
    test.test(("take", [np.zeros(0, np.int64)]), expected_outputs=np.zeros((0, 2)))


@pytest.mark.parametrize("trainable", [False, True])
def test_order_of_reads_and_writes(backend, trainable):
    test = made(backend, trainable)
    for expected in (0.0, 1.0):
        first, second = test.test(("write_and_take", [[1], [[1.0, 1.0]]]))
        np.testing.assert_array_equal(first, [[expected, expected]])
        np.testing.assert_array_equal(second, [[expected + 1.0, expected + 1.0]])


@pytest.mark.parametrize("index", [4, 1000])
def test_indices_out_of_range_leave_neighbours_alone(backend, index):
    test = made(backend)
    for method, arguments in (
        ("update", [[index], [[1.0, 2.0]]]),
        ("add", [[index], [[1.0, 2.0]]]),
        ("take", [[index]]),
    ):
        with pytest.raises(Exception, match="out of (bounds|range)|not in"):
            test.test((method, arguments))
    test.variable_test({"table/before": [7.0] * 3, "table/table": np.zeros((4, 2)), "table/zlast": 8.0})


class Ring(Component):
    """Everything in one function: a cursor, two tables, reads before and behind the writes."""

    def create_variables(self, input_spaces, action_space=None):
        self.cube = self.get_variable("cube", FloatBox(shape=(3, 2, 2)), trainable=False)
        self.flags = self.get_variable("flags", BoolBox(shape=(3,)))
        self.cursor = self.get_variable("cursor", IntBox(shape=()))

    @rlgraph_api
    @graph_fn(returns=3)
    def insert(self, ops, values, number):
        index = self.cursor % 3
        before = ops.take(self.flags, index)
        whole = ops.read(self.cube)
        ops.scatter_update(self.cube, index, values)
        ops.scatter_update(self.flags, index[None], ops.ones((1,), "bool"))
        ops.assign_add(self.cursor, 1)
        indices = ops.stack([ops.stack([index, index])])
        return before, whole, ops.take(self.cube, indices)


def test_indices_of_any_rank_and_rows_of_any_shape(backend):
    spaces = {"values": FloatBox(shape=(2, 2)), "number": IntBox()}
    test = ComponentTest(Ring(scope="ring"), spaces, backend=backend)
    rng, cube = np.random.default_rng(0), np.zeros((3, 2, 2), np.float32)
    for step in range(5):
        values = rng.normal(size=(2, 2)).astype(np.float32)
        before, whole, taken = test.test(("insert", [values, 0]))
        assert before == (step >= 3)
        np.testing.assert_array_equal(whole, cube)
        cube[step % 3] = values
        np.testing.assert_array_equal(taken, [[values, values]])
        test.variable_test({"ring/cube": cube, "ring/cursor": step + 1})
    test.variable_test({"ring/flags": [True] * 3})
    (effects,) = test.executor.built.effects.values()
    assert effects.reads == effects.writes == {"ring/cube", "ring/flags", "ring/cursor"}
    assert (effects.hazard, effects.pure, effects.overwrites) == (True, False, {"ring/cube"})


def test_effects():
    built = made("numpy").executor.built
    effects = {built.graph.nodes[id_].function: e for id_, e in built.effects.items()}
    for name in ("_update", "_add"):
        assert (effects[name].reads, effects[name].writes) == (frozenset(), {"table/table"})
        assert (effects[name].hazard, effects[name].pure) == (False, False)
    assert (effects["_take"].reads, effects["_take"].whole_reads) == ({"table/table"}, frozenset())
    assert (effects["_take"].aliases, effects["_take"].pure) == ((frozenset(),), True)


class Uses(Component):
    """One function that uses a table [n, 2] of floats, a row of it and a number []."""

    def __init__(self, use, space=None):
        self.use, self.space = use, space or FloatBox(shape=(4, 2))
        super().__init__(scope="uses")

    def create_variables(self, input_spaces, action_space=None):
        self.table = self.get_variable("table", self.space, trainable=False)

    @rlgraph_api
    @graph_fn(returns=0)
    def call(self, ops, x):
        self.use(ops, self.table, x)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda ops, t, x: ops.scatter_update(t, ops.zeros((3,), "int64"), x),
            r"int64\[3\] into float32\[4, 2\] needs values of shape float32\[3, 2\], given float32\[B, 2\]",
        ),
        (
            lambda ops, t, x: ops.scatter_add(t, ops.zeros((), "int64"), x[:, 0]),
            r"needs values of shape float32\[2\], given float32\[B\]",
        ),
        (lambda ops, t, x: ops.scatter_update(t, x[:, 0], x), "needs int32 or int64 indices, given float32"),
        (
            lambda ops, t, x: ops.scatter_add(t, ops.zeros((1,), "int64"), ops.zeros((1, 2), "int64")),
            "no implicit promotion",
        ),
        (
            lambda ops, t, x: ops.scatter_add(t, ops.zeros((1,), "int64"), 1.0),
            "values must be a tensor, given float",
        ),
        (
            lambda ops, t, x: ops.scatter_update(x, ops.zeros((1,), "int64"), x),
            "ops.scatter_update needs a variable of the component",
        ),
        (
            lambda ops, t, x: ops.scatter_add(t, ops.zeros((1,), "int64"), t[:1]),
            "the values are a part or view of the variable .* itself: take them from ops.read",
        ),
    ],
)
def test_wrong_writes_of_rows(use, message):
    with pytest.raises(BuildError, match=message):
        ComponentTest(Uses(use), {"x": ROWS}, backend="numpy")


def test_wrong_variables():
    zero = "int64"
    with pytest.raises(BuildError, match=r"the variable float32\[\] has no rows; use ops.assign"):
        ComponentTest(
            Uses(lambda ops, t, x: ops.scatter_update(t, ops.zeros((1,), zero), x[:, 0]), FloatBox()),
            {"x": ROWS},
            backend="numpy",
        )
    for name, use in (
        ("scatter_add", lambda ops, t, x: ops.scatter_add(t, ops.zeros((1,), zero), ops.zeros((1,), "bool"))),
        ("assign_add", lambda ops, t, x: ops.assign_add(t, ops.zeros((2,), "bool"))),
    ):
        with pytest.raises(BuildError, match=rf"{name} needs a variable of numbers, given bool\[2\]"):
            ComponentTest(Uses(use, BoolBox(shape=(2,))), {"x": ROWS}, backend="numpy")


# Large copies.


class Large(Component):
    """A buffer of 4 MiB: one method per way of using it, beside one of 0.5 MiB."""

    def create_variables(self, input_spaces, action_space=None):
        self.buffer = self.get_variable("buffer", FloatBox(shape=(2**19, 2)), trainable=False)
        self.weights = self.get_variable("weights", FloatBox(shape=(2**19, 2)))
        self.small = self.get_variable("small", FloatBox(shape=(2**16, 2)), trainable=False)

    @rlgraph_api
    def read_then_write(self, i):
        return self._sum_read(i), self._write(i)

    @rlgraph_api
    def view_then_write(self, i):
        return self._first(self._view(i)), self._write(i)

    @rlgraph_api
    def index_in_one_function(self, i):
        return self._index(i)

    @rlgraph_api
    def write_then_read(self, i):
        return self._write(i), self._sum_read(i)

    @rlgraph_api
    def rows(self, i):
        return self._rows(i), self._write(i)

    @rlgraph_api
    def read_only(self, i):
        return self._sum_read(i)

    @rlgraph_api
    @graph_fn
    def trained(self, ops, i):
        total = ops.sum(ops.read(self.weights)) + ops.sum(self.buffer)
        ops.assign_add(self.weights, 1.0)
        ops.assign(self.buffer, self.buffer * 2.0)
        return total

    @rlgraph_api
    @graph_fn
    def small_copy(self, ops, i):
        total = ops.sum(ops.read(self.small))
        ops.assign(self.small, 1.0)
        return total

    @graph_fn
    def _sum_read(self, ops, i):
        return ops.sum(ops.read(self.buffer))

    @graph_fn
    def _view(self, ops, i):
        return ops.reshape(self.buffer, (-1,))

    @graph_fn
    def _first(self, ops, flat):
        return flat[0] * 1.0

    @graph_fn
    def _write(self, ops, i):
        ops.scatter_update(self.buffer, i, ops.ones((ops.shape(i)[0], 2)))
        return i + 1

    @graph_fn
    def _rows(self, ops, i):
        return ops.take(self.buffer, i)

    @graph_fn
    def _index(self, ops, i):
        row = self.buffer[3] * 1.0
        ops.scatter_update(self.buffer, i, ops.ones((ops.shape(i)[0], 2)))
        return row


@pytest.mark.parametrize(
    ("method", "function"),
    [
        ("read_then_write", "_sum_read"),
        ("view_then_write", "_view"),
        ("index_in_one_function", "_index"),
    ],
)
def test_large_copies_are_warned_of(method, function):
    executor = ComponentTest(Large(scope="large"), {"i": INDICES}, backend="numpy").executor
    message = (
        rf"large.{function} takes the whole value of large/buffer \(4.0 MiB\).*ops.take\(variable, indices\)"
    )
    with pytest.warns(PerformanceWarning, match=message):
        executor.plan(method)


def test_large_copies_on_one_side_of_a_branch_are_warned_of():
    class OneSide(Large):
        @rlgraph_api
        def either(self, i, flag):
            return branch(flag, self._index, self._new_row, i)

        @graph_fn
        def _new_row(self, ops, i):
            return ops.zeros((2,))

    executor = ComponentTest(OneSide(scope="large"), {"i": INDICES, "flag": bool}, backend="numpy").executor
    with pytest.warns(PerformanceWarning, match="takes the whole value of large/buffer"):
        executor.plan("either")


@pytest.mark.parametrize("method", ["write_then_read", "rows", "read_only", "trained", "small_copy"])
def test_nothing_is_warned_of_where_nothing_is_copied_in_vain(method):
    executor = ComponentTest(Large(scope="large"), {"i": INDICES}, backend="numpy").executor
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        executor.plan(method)
