"""Several calls in one `execute`: one program that shares inputs and intermediate values."""

import numpy as np
import pytest

from rlgraph.components import Dense
from rlgraph.core import (
    Component,
    GraphExecutor,
    InputError,
    RLGraphError,
    branch,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.graph import make_plan
from rlgraph.core.graph.call_fusion import FusedCall, fuse
from rlgraph.core.runtime.fused_calls import fused_calls
from rlgraph.spaces import Dict, FloatBox, IntBox

BATCH = FloatBox(shape=(2,), add_batch_rank=True)
X, Y = np.array([[1.0, 2.0]], np.float32), np.array([[3.0, 4.0], [5.0, 6.0]], np.float32)


class Net(Component):
    """Two heads over one layer, a counter, and a host function."""

    def __init__(self):
        self.layer = Dense(2, scope="layer", weights_spec=2.0)
        super().__init__(self.layer, scope="net")

    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", IntBox(), initializer=0)
        self.calls = self.get_variable("calls", IntBox(), initializer=0, host=True)

    @rlgraph_api
    def double(self, x):
        return self._times(self.layer.call(x), 2.0)

    @rlgraph_api
    def triple(self, x):
        return {"tripled": self._times(self.layer.call(x), 3.0)}

    @rlgraph_api
    def scaled(self, x, factor=0.5):
        return self._scaled(x, factor)

    @rlgraph_api
    @graph_fn
    def tick(self, ops):
        ops.assign_add(self.count, 1)
        return ops.read(self.count)

    @rlgraph_api
    def parts(self, pair):
        return self._times(pair["left"], 1.0), pair["right"]

    @rlgraph_api
    def host(self, x):
        return self._times(self._host(x), 10.0)

    @graph_fn
    def _times(self, ops, x, factor):
        return x * factor

    @graph_fn
    def _scaled(self, ops, x, factor):
        return x * factor

    @graph_fn(host=True, spaces=lambda self, x: x)
    def _host(self, x):
        self.calls += 1
        return x + self.calls


SPACES = {
    "x": BATCH,
    "factor": FloatBox(),
    "pair": Dict(left=BATCH, right=BATCH, add_batch_rank=True),
}


@pytest.fixture
def executor(backend):
    return GraphExecutor(Net(), SPACES, backend=backend)


def test_two_calls_give_what_they_give_one_by_one(executor):
    apart = executor.execute("double", X), executor.execute("triple", X)
    together = executor.execute([("double", X), ("triple", X)])
    assert isinstance(together, tuple)
    np.testing.assert_array_equal(together[0], apart[0])
    np.testing.assert_array_equal(together[1]["tripled"], apart[1]["tripled"])
    np.testing.assert_array_equal(apart[0], [[12.0, 12.0]])


def test_one_object_is_one_input_and_what_is_common_is_computed_once(executor):
    executor.execute([("double", X), ("triple", X)])
    executor.execute([("double", X), ("triple", Y)])
    shared, apart = executor.programs.of_calls.values()
    assert (shared.__code__.co_argcount, apart.__code__.co_argcount) == (1, 2)
    sizes = {
        calls: len(fused.nodes)
        for calls, fused in zip(
            ("shared", "apart"), (_plan(executor, X, X), _plan(executor, X, Y)), strict=True
        )
    }
    assert sizes == {"shared": 3, "apart": 4}


def _plan(executor, first, second):
    calls, _ = fused_calls(executor.built, [("double", [first]), ("triple", [second])])
    return make_plan(*fuse(executor.built, calls))


def test_a_combination_is_made_once(executor):
    for _ in range(3):
        executor.execute([("double", X), ("triple", X)])
        executor.execute([("double", Y.copy()), ("triple", X)])
    assert len(executor.programs.of_calls) == 2


def test_batches_of_different_size_go_together(executor):
    one, two = executor.execute([("double", X), ("double", Y)])
    np.testing.assert_array_equal(one, [[12.0, 12.0]])
    np.testing.assert_array_equal(two, [[28.0, 28.0], [44.0, 44.0]])


def test_arguments_of_one_name_are_inputs_of_their_own(executor):
    arrays = [np.full((1, 2), float(i), np.float32) for i in range(4)]
    results = executor.execute([("double", array) for array in arrays])
    for array, result in zip(arrays, results, strict=True):
        np.testing.assert_array_equal(result, executor.execute("double", array))


def test_a_number_that_is_given_to_a_name_may_be_part_of_another(backend):
    class Numbered(Component):
        @rlgraph_api
        def one(self, x):
            return self._double(x)

        @rlgraph_api
        def two(self, x_2):
            return self._double(x_2)

        @graph_fn
        def _double(self, ops, x):
            return x * 2.0

    executor = GraphExecutor(Numbered(), {"x": FloatBox(), "x_2": FloatBox()}, backend=backend)
    for calls in ([("one", 1.0), ("one", 2.0), ("two", 3.0)], [("two", 1.0), ("one", 2.0), ("one", 3.0)]):
        assert [float(value) for value in executor.execute(calls)] == [2.0, 4.0, 6.0]


def test_fusing_adds_a_method_and_changes_none(executor):
    built = executor.built
    for calls in ([("double", (0,))], [("double", (0,)), ("triple", (1,))]):
        extended, name = fuse(built, [FusedCall(*call) for call in calls])
        assert set(extended.graph.methods) == {*built.graph.methods, name}
        assert name not in built.graph.methods
        for method, entry in built.graph.methods.items():
            assert extended.graph.methods[method] is entry


def test_calls_happen_in_their_order(executor):
    assert [int(v) for v in executor.execute([("tick",), "tick", ("tick",)])] == [1, 2, 3]
    assert int(executor.execute("tick")) == 4


def test_defaults_methods_containers_and_host_functions(executor):
    net = executor.root
    pair = {"left": X, "right": Y[:1]}
    scaled, (left, right), hosted, again = executor.execute(
        [(net.scaled, X), (net.parts, pair), ("host", X), ("host", X)]
    )
    np.testing.assert_array_equal(scaled, [[0.5, 1.0]])
    np.testing.assert_array_equal(left, X)
    np.testing.assert_array_equal(right, Y[:1])
    np.testing.assert_array_equal(hosted, [[20.0, 30.0]])
    np.testing.assert_array_equal(again, [[30.0, 40.0]])


def test_an_argument_with_two_spaces_is_two_inputs(backend):
    class Two(Component):
        @rlgraph_api
        @graph_fn
        def whole(self, ops, n):
            return n + 1

        @rlgraph_api
        @graph_fn
        def real(self, ops, n):
            return n + 1.5

    executor = GraphExecutor(Two(), {"whole.n": IntBox(), "real.n": FloatBox()}, backend=backend)
    assert [float(v) for v in executor.execute([("whole", 7), ("real", 7)])] == [8.0, 8.5]


def test_names_of_arguments_that_end_in_a_number(backend):
    class Numbered(Component):
        @rlgraph_api
        def first(self, x1, x1_2):
            return self._difference(x1, x1_2)

        @graph_fn
        def _difference(self, ops, a, b):
            return a - b

    executor = GraphExecutor(Numbered(), {"x1": float, "x1_2": float}, backend=backend)
    assert [float(v) for v in executor.execute([("first", 7.0, 1.0), ("first", 5.0, 2.0)])] == [6.0, 3.0]


def test_sizes_are_shared_within_each_call_and_not_between_calls(backend):
    class Sums(Component):
        @rlgraph_api
        @graph_fn
        def call(self, ops, x, y):
            return ops.sum(x) + ops.sum(y)

    batch = FloatBox(add_batch_rank=True)
    executor = GraphExecutor(Sums(), {"x": batch, "y": batch}, backend=backend)
    one, three = np.ones(1, np.float32), np.ones(3, np.float32)
    results = executor.execute([("call", one, 2 * one), ("call", three, 2 * three)])
    assert [float(v) for v in results] == [3.0, 9.0]
    with pytest.raises(
        InputError, match=r"sizes of one name differ: .* is 3 in x_2 \[3\] for .* and 1 in y_2 \[1\]"
    ):
        executor.execute([("call", one, 2 * one), ("call", three, 3 * one)])
    with pytest.raises(
        InputError, match=r"sizes of one name differ: .* is 3 in x \[3\] for .* and 1 in y_2 \[1\]"
    ):
        executor.execute([("call", three, 2 * three), ("call", three, one)])


def test_loops_and_branches(backend):
    class Flow(Component):
        @rlgraph_api
        def repeat(self, x):
            return loop(3, lambda i, y: self._add(y, self._add(i, 1.0)), x)

        @rlgraph_api
        def larger(self, x):
            return branch(self._positive(x), lambda: self._add(x, 0.5), lambda: x)

        @graph_fn
        def _add(self, ops, x, y):
            return ops.astype(x, "float") + y

        @graph_fn
        def _positive(self, ops, x):
            return x > 0.0

    executor = GraphExecutor(Flow(), {"x": FloatBox()}, backend=backend)
    calls = [("larger", 1.0), ("repeat", 1.0), ("repeat", 2.0), ("larger", -1.0)]
    # 1 + 2 + 3 is added.
    assert [float(value) for value in executor.execute(calls)] == [1.5, 7.0, 8.0, -1.0]


def test_mistakes(executor):
    with pytest.raises(InputError, match="the list of calls is empty"):
        executor.execute([])
    with pytest.raises(InputError, match=r"belong into the calls: \[\(method, \*arguments\), \.\.\.\]"):
        executor.execute([("double", X)], X)
    with pytest.raises(
        InputError, match=r"double\(x\) was given 0 arguments; several calls are \[\(method, \*arg"
    ):
        executor.execute(("double", X))
    with pytest.raises(
        InputError, match=r"expected the name of an API method, or root.method, given 2.0; several"
    ):
        executor.execute(["tick", 2.0])
    with pytest.raises(InputError, match=r"double\(x\) was given 2 arguments"):
        executor.execute([("double", X, X)])
    with pytest.raises(RLGraphError, match="no API method 'doubel'. Did you mean 'double'"):
        executor.execute([("doubel", X)])
    with pytest.raises(InputError, match=r"argument x_2: expected float32\[B, 2\], given float32\[2\]"):
        executor.execute([("double", X), ("triple", Y[0])])
