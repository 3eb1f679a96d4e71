"""The emitted source for backends that take derivatives of functions computes what the other one does.

PyTorch needs no such source, but can run it: everything that the conformance suite asks of derivatives, loops and
components is asked of it once more.
"""

import numpy as np
import pytest

from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph.emission import Transform
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance import run_conformance
from rlgraph.torch import backend


@pytest.fixture(autouse=True)
def of_functions(monkeypatch):
    """Has the torch backend ask for functions."""

    linker = backend.TorchBackend.linker

    def make(self, storage, handle, block, gradients, **options):
        def transform(blocks):
            derive = gradients.derive(blocks, True)

            def run(function):
                loss, results = function()
                return results, derive(loss)

            return run

        return linker(self, storage, handle, block, Transform(transform), **options)

    monkeypatch.setattr(backend.TorchBackend, "linker", make)


@pytest.mark.parametrize(
    "section",
    ["gradients", "loops", pytest.param("components", marks=pytest.mark.repetition), "graphs", "variables"],
)
def test_the_conformance_suite_passes(section):
    outcomes = run_conformance("torch", only=[section])
    assert [f"{o.check.id}: {o.message}" for o in outcomes if o.status == "failed"] == []
    assert len(outcomes) > 5


class Two(Component):
    """Two losses that share a layer."""

    def create_variables(self, input_spaces, action_space=None):
        self.weight = self.get_variable("weight", FloatBox(shape=(2,)), initializer=[1.0, 2.0])

    @graph_fn
    def _layer(self, ops, x):
        return x * self.weight

    @graph_fn(returns=2)
    def _losses(self, ops, y):
        return ops.sum(y), ops.sum(y * y)

    @graph_fn(returns=0)
    def _step(self, ops, variables, first, second):
        for variable, one, two in zip(variables, first, second, strict=True):
            ops.assign(variable, variable - one - two)

    @rlgraph_api
    def step(self, x):
        one, two = self._losses(self._layer(x))
        self._step(self.variables(), gradients(one, self.variables()), gradients(two, self.variables()))
        return two


@pytest.mark.parametrize("contract", [True, False])
def test_functions_contain_one_another(contract):
    executor = GraphExecutor(
        Two(scope="two"), {"x": FloatBox(shape=(2,), add_batch_rank=True)}, backend="torch", contract=contract
    )
    x = np.array([[1.0, 3.0], [2.0, 1.0]], np.float32)
    assert executor.execute("step", x) == (x * [1.0, 2.0]).__pow__(2).sum()
    # d sum(x w) = sum x = [3, 4]; d sum(x^2 w^2) = 2 w sum x^2 = [2 * 5, 4 * 10].
    np.testing.assert_allclose(executor.get_weights()["two/weight"], [1 - 3 - 10, 2 - 4 - 40])
    source = executor.plan("step").segments[0]
    text = executor.program("step").__globals__[source.name].__source__
    outer, inner = text.index("def differentiated"), text.rindex("def differentiated")
    assert outer < inner < text.rindex("return v")
