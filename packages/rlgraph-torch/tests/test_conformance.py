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

pytestmark = pytest.mark.slow


class TestTorch(BackendConformance):
    backend = "torch"


@pytest.fixture
def failures(monkeypatch):
    """Gives the checks that a backend fails, outside the sections that show no derivative and those of the library."""
    module = ModuleType("a_module_with_a_broken_backend")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = registry("rlgraph.backends")
    sections = ("gradients", "graphs")

    def run(backend, only=sections):
        module.Broken = backend
        factory = f"{module.__name__}:Broken"
        known.register(
            "broken", BackendDescriptor("broken", "torch", factory, CONTRACT_VERSION, backend.capabilities)
        )
        return {o.check.id: o.message for o in run_conformance("broken", only=only) if o.status == "failed"}

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
    """The backend whose derivatives ``f(loss)`` are those of ``wrap(gradients, blocks, retain)``."""

    class Storage(TorchStorage):
        def gradients(self, blocks, retain, placed):
            return wrap(super().gradients, blocks, retain)

    class Broken(TorchBackend):
        def create_storage(self, layout, variables):
            return Storage(layout, variables, self.execution.seed)

    return Broken


def test_an_operation_that_loses_its_derivative(failures):
    def elu(x):
        return torch.nn.functional.elu(x.detach()) + 0.0 * x

    assert failures(with_ops(elu=elu)).keys() == {"gradients/elu"}


def test_an_operation_with_a_wrong_derivative(failures):
    def sigmoid(x):
        y = torch.sigmoid(x)
        return y.detach() + 1.1 * (y - y.detach())

    assert failures(with_ops(sigmoid=sigmoid)).keys() == {"gradients/sigmoid"}


def test_a_derivative_where_none_should_be(failures):
    found = failures(with_ops(stop_gradient=lambda x: x))
    assert found.keys() == {"gradients/stop_gradient", "gradients/empty_batch"}


def test_a_graph_that_is_thrown_away_too_early(failures):
    found = failures(with_gradients(lambda make, blocks, _: make(blocks, False)))
    assert found.keys() == {"gradients/two_losses"}


def test_a_lost_gradient(failures):
    """The last variable of every list gets none: whatever learns is wrong."""

    def losing(make, blocks, retain):
        derive = make(blocks, retain)

        def gradients(loss):
            found = derive(loss)
            found[-1][-blocks[-1].variables[-1].size :] = 0.0
            return found

        return gradients

    found = failures(with_gradients(losing))
    assert {"gradients/network_with_adam", "gradients/matmul", "gradients/two_losses"} <= found.keys()
    assert {check.split("/")[0] for check in found} <= {"gradients", "graphs"}


def test_derivatives_in_another_precision(failures):
    def rounding(make, blocks, retain):
        derive = make(blocks, retain)
        return lambda loss: [found.float().double() for found in derive(loss)]

    found = failures(with_gradients(rounding), ["gradients/precision", "gradients/matmul"])
    assert found.keys() == {"gradients/precision", "gradients/matmul"}
    assert found["gradients/precision"].startswith(
        "derivatives in an execution in float64: 3 of 3 values differ by more than 1e-14 + 1e-14 of the value"
    )


class RoundedTanh(torch.autograd.Function):
    """Its derivative is computed in float32."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(torch.tanh(x))
        return torch.tanh(x)

    @staticmethod
    def backward(context, gradient):
        (y,) = context.saved_tensors
        return (gradient * (1.0 - y * y).float()).to(y.dtype)


def test_an_operation_that_is_derived_in_another_precision(failures):
    found = failures(with_ops(tanh=RoundedTanh.apply), ["gradients/tanh"])
    assert found["gradients/tanh"].startswith("derivative of ops.tanh(float64[")


@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrence_that_loses_the_derivative_by_its_first_value(failures, reverse):
    wrong = reverse

    def recurrence(x, d, initial=None, reverse=False, axis=0):
        initial = initial.detach() if initial is not None and reverse == wrong else initial
        return TorchOps.linear_recurrence(x, d, initial, reverse, axis)

    found = failures(with_ops(linear_recurrence=recurrence), ["gradients/linear_recurrence"])
    assert f"reverse={reverse}" in found["gradients/linear_recurrence"]


def test_a_recurrence_that_loses_the_derivative_by_its_factors_in_reverse(failures):
    def recurrence(x, d, initial=None, reverse=False, axis=0):
        d = d.detach() if reverse and isinstance(d, torch.Tensor) else d
        return TorchOps.linear_recurrence(x, d, initial, reverse, axis)

    found = failures(with_ops(linear_recurrence=recurrence), ["gradients/linear_recurrence"])
    assert "reverse=True" in found["gradients/linear_recurrence"]


def test_a_loop_without_iterations_that_loses_its_derivative(failures):
    def while_loop(cond, body, init, max_iterations=None):
        left = TorchOps.while_loop(cond, body, init, max_iterations)
        return left.detach() if left is init else left

    found = failures(with_ops(while_loop=while_loop), ["control"])
    assert found.keys() == {"control/derivatives_of_loops"}
    assert found["control/derivatives_of_loops"].startswith(
        "a loop of x until its sum is 0, at most 3 times:"
    )
