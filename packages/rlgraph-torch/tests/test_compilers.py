"""The libraries of inductor, and their inputs."""

import numpy as np
import pytest
import torch
from torch.fx import Graph, GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.torch.compile import compilers
from rlgraph.torch.compile.compilers import compile_library, load_library

TABLE = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)


class WithTargets(Component):
    """An update with a tensor of PyTorch in its source."""

    def __init__(self, table):
        self.table, self.dense, self.adam = table, Dense(1), Adam(0.01)
        super().__init__(self.dense, self.adam, scope="root")

    @rlgraph_api
    def update(self, x):
        loss = self._loss(self.dense.call(x), self._targets())
        self.adam.step(self.dense.variables(), loss)
        return loss

    @graph_fn(spaces=FloatBox(shape=TABLE.shape))
    def _targets(self, ops): ...

    @_targets.kernel("torch")
    def _targets_on_torch(self, ops):
        torch.tensor(self.table).square()  # which nothing uses
        return torch.tensor(self.table, dtype=torch.float64)

    @graph_fn
    def _loss(self, ops, y, targets):
        return ops.mean(ops.square(y)) + ops.mean(y) * ops.mean(targets[0])


def test_constants_are_inputs_of_a_program(straight):
    space, x, losses = FloatBox(shape=(3,), add_batch_rank=True), np.ones((4, 3)), []
    for table in (TABLE, 2.0 * TABLE):
        compiled, eager = (
            GraphExecutor(
                WithTargets(table),
                {"x": space},
                backend="torch",
                execution_spec={"seed": 3, "dtype": "float64", "compile": compile},
            )
            for compile in (True, False)
        )
        losses.append(compiled.execute("update", x))
        np.testing.assert_allclose(losses[-1], eager.execute("update", x), rtol=1e-12)
    assert len(straight) == 1 and losses[0] != losses[1]


@pytest.mark.slow
def test_libraries_of_a_process(tmp_path, monkeypatch):
    """Several, the same once more, on a processor whose instructions are tried first, which makes a library too."""
    monkeypatch.setattr(compilers, "_has_rare_instructions", lambda: True)
    x, table = torch.arange(6.0).reshape(2, 3), torch.tensor(TABLE.T)

    def doubled(x, table):
        x.mul_(2.0)
        return x @ table, x.sum()

    def exchanged(x, table):
        return table, x.sum() * 3.0

    expected = {doubled: (2.0 * x.numpy() @ TABLE.T, 30.0), exchanged: (TABLE.T, 45.0)}
    for number, program in enumerate((doubled, exchanged, doubled)):
        graph = make_fx(program, tracing_mode="fake")(x, table)
        library = tmp_path / str(number) / "same" / "program.so"
        library.parent.mkdir(parents=True)
        compile_library(graph, [x, table], library, tmp_path / "inductor")
        given = x.clone()
        for result, array in zip(load_library(library)([given, table]), expected[program], strict=True):
            np.testing.assert_allclose(result, array, rtol=1e-6)
        np.testing.assert_array_equal(given, 2.0 * x if program is doubled else x)


def test_a_constant_that_is_not_an_input_is_refused(tmp_path):
    graph, x = Graph(), torch.ones(3)
    product = graph.call_function(
        torch.ops.aten.mul.Tensor, (graph.get_attr("table"), graph.placeholder("x"))
    )
    graph.output((product,))
    module = GraphModule({"table": torch.tensor(TABLE)}, graph)
    with pytest.raises(RuntimeError, match="expected a graph of 1 inputs, given 2"):
        compile_library(module, [x], tmp_path / "program.so", tmp_path)
