"""What is compiled, and the libraries of inductor."""

import numpy as np
import pytest
import torch
from torch.fx import Graph, GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from rlgraph.components import LSTM, Adam, Dense
from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch.compile.compilers import compile_library, load_library
from rlgraph.torch.compile.partition import MANY

TABLE = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)


class Prepared(Component):
    """Updates on what was computed for all of them."""

    def __init__(self, calls, *layers, table=TABLE):
        self.calls, self.layers, self.dense, self.adam = calls, layers, Dense(1), Adam(0.01)
        self.table = table
        super().__init__(*layers, self.dense, self.adam, scope="root")

    @rlgraph_api
    def update(self, x):
        for layer in self.layers:
            x, _ = layer.call(x)
        for _ in range(self.calls):
            x = self._shifted(x)

        def step(i, last):
            loss = self._loss(self.dense.call(x), self._targets())
            self.adam.step(self.dense.variables(), loss)
            return loss

        return loop(3, step, self._zero())

    @graph_fn
    def _shifted(self, ops, x):
        return 0.9 * x + 0.1

    @graph_fn(spaces=FloatBox(shape=TABLE.shape))
    def _targets(self, ops): ...

    @_targets.kernel("torch")
    def _targets_on_torch(self, ops):
        return torch.tensor(self.table, dtype=torch.float64)

    @graph_fn
    def _loss(self, ops, y, targets):
        return ops.mean(ops.square(y - 1.0)) + ops.mean(y) * ops.mean(targets[0])

    @graph_fn
    def _zero(self, ops):
        return ops.zeros(())


EXECUTION = {"seed": 3, "dtype": "float64"}
ROWS = FloatBox(shape=(3,), add_batch_rank=True)
SEQUENCES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=True)


def pair(make, space):
    """A compiled executor and an eager one."""
    return [
        GraphExecutor(make(), {"x": space}, backend="torch", execution_spec={**EXECUTION, "compile": compile})
        for compile in (True, False)
    ]


@pytest.mark.parametrize(
    ("layers", "space", "calls", "programs"),
    [
        ((), ROWS, MANY, 2),
        ((), ROWS, MANY - 2, 1),
        ((LSTM,), SEQUENCES, MANY, 1),
    ],
    ids=["many", "few", "sequences"],
)
def test_what_is_computed_ahead_of_many_updates_is_compiled(straight, layers, space, calls, programs):
    compiled, eager = pair(lambda: Prepared(calls, *(layer(3) for layer in layers)), space)
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = rng.normal(size=(4, 2, 3) if layers else (4, 3))
        np.testing.assert_allclose(compiled.execute("update", x), eager.execute("update", x), rtol=1e-12)
    assert len(straight) == programs


def test_constants_are_inputs_of_a_program(straight):
    x, losses = np.ones((4, 3)), []
    for table in (TABLE, 2.0 * TABLE):
        compiled, eager = pair(lambda table=table: Prepared(1, table=table), ROWS)
        losses.append(compiled.execute("update", x))
        np.testing.assert_allclose(losses[-1], eager.execute("update", x), rtol=1e-12)
    assert len(straight) == 1 and losses[0] != losses[1]


def traced(function, *inputs):
    return make_fx(function, tracing_mode="fake")(*inputs)


@pytest.mark.slow
def test_a_process_compiles_the_same_graph_again(tmp_path):
    """Its library was deleted, or has another key."""
    x = torch.arange(6.0).reshape(2, 3)

    def program(x, table):
        x.mul_(2.0)
        return (x @ table, x.sum())

    table = torch.tensor(TABLE).t()
    graph = traced(program, x, table)
    for name in ("first", "second"):
        library = tmp_path / name / "program.so"
        library.parent.mkdir()
        compile_library(graph, [x, table], library)
        given = x.clone()
        product, total = load_library(library)([given, table])
        np.testing.assert_allclose(product, 2.0 * x.numpy() @ TABLE.T, rtol=1e-6)
        assert float(total) == 30.0
        np.testing.assert_array_equal(given, 2.0 * x)


@pytest.mark.slow
def test_a_constant_that_is_not_an_input_is_refused(tmp_path):
    graph, x = Graph(), torch.ones(3)
    product = graph.call_function(
        torch.ops.aten.mul.Tensor, (graph.get_attr("table"), graph.placeholder("x"))
    )
    graph.output((product,))
    module = GraphModule({"table": torch.tensor(TABLE)}, graph)
    with pytest.raises(RuntimeError, match="constants of the graph that are not inputs"):
        compile_library(module, [x], tmp_path / "program.so")
