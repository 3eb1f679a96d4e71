"""What an executor says of its build and of its programs, against numbers counted by hand."""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox

SIZES = ("nodes_traced", "nodes_merged", "nodes_dropped", "nodes", "segments", "host_calls")


class Counted(Component):
    """Methods of which one can say what becomes of them."""

    @rlgraph_api
    @graph_fn
    def double(self, ops, x):
        return x * 2.0

    @rlgraph_api
    def repeated(self, x):
        """Two equal calls, one of which is left, and one that nobody needs."""
        self._square(x)
        return self.double(x), self.double(x)

    @rlgraph_api
    def through_the_host(self, x):
        """Tensors, host, a loop of tensors and host."""

        def body(i, v):
            return self._host(self._double(v))

        return loop(3, body, self._host(self._double(x)))

    @graph_fn
    def _square(self, ops, x):
        return x * x

    @graph_fn(host=True, spaces=FloatBox())
    def _host(self, x):
        return np.asarray(x + np.float32(1.0))


@pytest.fixture
def executor(backend):
    return GraphExecutor(Counted(scope="counted"), {"x": FloatBox()}, backend=backend)


def sizes(executor, method):
    return tuple(executor.statistics["methods"][method][name] for name in SIZES)


def test_the_whole_graph(executor):
    # double; repeated and two of double in it; through_the_host
    assert executor.statistics["api_calls"] == 1 + 3 + 1
    # one; three; two before the loop and two inside
    assert executor.statistics["graph_function_calls"] == 1 + 3 + 4
    assert executor.statistics["nodes"] == 8 + 1  # the loop itself


def test_every_program_that_was_made(executor):
    assert executor.statistics["methods"] == {}
    assert executor.execute("repeated", np.float32(1.5)) == (3.0, 3.0)
    assert sizes(executor, "repeated") == (3, 1, 1, 1, 1, 0)
    assert list(executor.statistics["methods"]) == ["repeated"]
    assert executor.execute("through_the_host", np.float32(0.0)) == 15.0  # 1, 3, 7, 15
    assert sizes(executor, "through_the_host") == (5, 0, 0, 5, 2, 2)
    for entry in executor.statistics["methods"].values():
        assert set(entry) == {*SIZES, "planning_seconds", "lowering_seconds"}
        assert entry["planning_seconds"] > 0 and entry["lowering_seconds"] > 0


def test_a_program_of_several_calls_has_an_entry_of_its_own(executor):
    x = np.float32(1.0)
    executor.execute([("double", x), ("repeated", x)])
    assert sizes(executor, "double__and__repeated") == (4, 2, 1, 1, 1, 0)


def test_nothing_is_merged_where_calls_stay_calls():
    executor = GraphExecutor(Counted(scope="counted"), {"x": FloatBox()}, backend="numpy", contract=False)
    executor.program("repeated")
    assert sizes(executor, "repeated") == (3, 0, 1, 2, 1, 0)
