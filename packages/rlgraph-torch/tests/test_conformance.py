"""The conformance suite; and what it says of a backend whose derivatives are wrong."""

import sys
from types import ModuleType

import pytest
import torch

from rlgraph.core import BackendDescriptor, registry
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.testing import BackendConformance
from rlgraph.testing.conformance import run_conformance
from rlgraph.torch.backend import TorchBackend
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.storage import TorchStorage


class TestTorch(BackendConformance):
    backend = "torch"


@pytest.fixture
def failures(monkeypatch):
    """Gives the checks that a backend fails, outside the sections that show no derivative and those of the library."""
    module = ModuleType("a_module_with_a_broken_backend")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = registry("rlgraph.backends")
    sections = ["contract", "variables", "gradients", "graphs", "budget"]

    def run(backend):
        module.Broken = backend
        factory = f"{module.__name__}:Broken"
        known.register(
            "broken", BackendDescriptor("broken", "torch", factory, CONTRACT_VERSION, backend.capabilities)
        )
        return {o.check.id for o in run_conformance("broken", only=sections) if o.status == "failed"}

    yield run
    known._plugins.pop("broken")
    known._objects.pop("broken")


def with_ops(**operations):
    """The backend with some operations replaced."""
    ops_class = type("BrokenOps", (TorchOps,), {k: staticmethod(v) for k, v in operations.items()})

    class Broken(TorchBackend):
        def __init__(self, execution):
            super().__init__(execution)
            self.ops = ops_class(execution.dtype)

    return Broken


def with_gradients(wrap):
    """The backend whose derivatives ``f(loss)`` are those of ``wrap(gradients, variables, blocks, retain)``."""

    class Storage(TorchStorage):
        def gradients(self, variables, blocks, retain):
            return wrap(super().gradients, variables, blocks, retain)

    class Broken(TorchBackend):
        def create_storage(self, layout, variables):
            return Storage(layout, variables, self.execution.seed)

    return Broken


def test_an_operation_that_loses_its_derivative(failures):
    def elu(x):
        return torch.nn.functional.elu(x.detach()) + 0.0 * x

    assert failures(with_ops(elu=elu)) == {"gradients/elu"}


def test_an_operation_with_a_wrong_derivative(failures):
    def sigmoid(x):
        y = torch.sigmoid(x)
        return y.detach() + 1.1 * (y - y.detach())

    assert failures(with_ops(sigmoid=sigmoid)) == {"gradients/sigmoid"}


def test_a_derivative_where_none_should_be(failures):
    assert failures(with_ops(stop_gradient=lambda x: x)) == {"gradients/stop_gradient"}


def test_a_graph_that_is_thrown_away_too_early(failures):
    found = failures(with_gradients(lambda make, variables, blocks, _: make(variables, blocks, False)))
    assert found == {"gradients/two_losses"}


def test_a_lost_gradient(failures):
    """The last variable of every list gets none: whatever learns is wrong."""

    def losing(make, variables, blocks, retain):
        derive = make(variables, blocks, retain)

        def gradients(loss):
            found = derive(loss)
            found[-1][-variables[-1].size :] = 0.0
            return found

        return gradients

    found = failures(with_gradients(losing))
    assert {"gradients/network_with_adam", "gradients/matmul", "gradients/two_losses"} <= found
    assert {check.split("/")[0] for check in found} <= {"gradients", "graphs"}
