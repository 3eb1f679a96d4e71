"""Mistakes in a tape, planted one at a time: a check of the conformance suite finds each."""

import sys
from types import ModuleType

import autograd.numpy as anp
import numpy as np
import pytest
from autograd.extend import defvjp, primitive
from autograd.tracer import getval, isbox

from rlgraph.core import BackendDescriptor, registry
from rlgraph.core.graph.emission import Tape, emit_segment
from rlgraph.core.handle import value_of
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.testing.conformance import run_conformance
from rlgraph_autograd import backend, tape
from rlgraph_autograd.backend import DIALECT, AutogradBackend
from rlgraph_autograd.ops import Differentiable, TapedOps, chosen
from rlgraph_autograd.tape import Arrays


class Broken(AutogradBackend):
    """The example with another state, operations of that state, or operations."""

    name = "broken"
    capabilities = frozenset({"gradients"})
    state, state_ops, operations = Arrays, {}, {}

    def __init__(self, execution):
        super().__init__(execution)
        self.ops = type("BrokenOps", (TapedOps,), self.state_ops)(execution.dtype)
        vars(self.ops).update(self.operations)

    def lower(self, plan, segment, storage):
        arrays = self.state(storage)
        linker = self.linker(
            storage, arrays.handle, arrays.block, Tape(arrays.gradients)
        )
        program = emit_segment(plan, segment, DIALECT, linker).compile()

        def run(*args):
            arrays.written = {}
            return program(*args)

        return run


@pytest.fixture
def failure(monkeypatch):
    """Gives what a check says of a broken backend."""
    module = ModuleType("a_module_with_a_broken_tape")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = registry("rlgraph.backends")

    def run(check, **members):
        module.Broken = type("Broken", (Broken,), members)
        factory, needs = f"{module.__name__}:Broken", Broken.capabilities
        known.register(
            "broken", BackendDescriptor("broken", "", factory, CONTRACT_VERSION, needs)
        )
        (outcome,) = run_conformance("broken", only=[check])
        return outcome.message

    yield run
    known._plugins.pop("broken")
    known._objects.pop("broken")


def test_a_derivative_through_a_write(failure):
    class State(Arrays):
        def read(self, handle):
            value = super().read(handle)
            return self.written.get(handle.start, value)

    def assign(variable, value):
        TapedOps.assign(variable, value)
        variable.state.written[variable.start] = value_of(value)

    message = failure(
        "gradients/written_variables",
        state=State,
        state_ops={"assign": staticmethod(assign)},
    )
    assert message.startswith("the derivative of by_assign: 2 of 2 values differ")


def test_a_written_variable_that_is_a_constant(failure):
    class State(Arrays):
        def read(self, handle):
            return self.view(handle) if self.written else super().read(handle)

    def assign_add(variable, value):
        TapedOps.assign_add(variable, value)
        variable.state.written[variable.start] = True

    message = failure(
        "gradients/written_variables",
        state=State,
        state_ops={"assign_add": staticmethod(assign_add)},
    )
    assert message.startswith("the derivative of by_assign_add: 2 of 2 values differ")


def test_a_tape_that_keeps_views_of_variables(failure):
    class State(Arrays):
        def read(self, handle):
            box = super().read(handle)
            if isbox(box):
                box._value = self.view(handle)
            return box

    message = failure("gradients/written_variables", state=State)
    assert message.startswith("the derivative of by_assign: 2 of 2 values differ")


def _whole_max(x, axis=None, keepdims=False):
    """Every one of equal elements gets the whole derivative."""

    @primitive
    def largest(x):
        return np.max(x, axis, keepdims=True)

    defvjp(largest, lambda y, x: lambda g: g * (x == y))
    result = largest(x)
    return result if keepdims else result.reshape(np.max(getval(x), axis).shape)


def _no_tie(x, y):
    """Equal operands get no derivative."""
    one, other = map(getval, (x, y))
    return (one > other) * x + (other > one) * y + np.where(one == other, one, 0.0)


@pytest.mark.parametrize(
    ("name", "of_boxes"), [("max", _whole_max), ("maximum", _no_tie)]
)
def test_ties(failure, name, of_boxes):
    operation = chosen(getattr(NumpyOps, name), of_boxes)
    message = failure("gradients/ties", operations={name: operation})
    assert message.startswith(f"derivatives of ops.{name} where elements are equal: ")


def test_a_log_softmax_of_two_functions(failure):
    def log_softmax(x, axis=-1):
        return anp.log(Differentiable("float64").softmax(x, axis))

    operation = chosen(NumpyOps.log_softmax, log_softmax)
    with np.errstate(all="ignore"):
        message = failure(
            "gradients/masked_logits", operations={"log_softmax": operation}
        )
    assert "values differ" in message


def test_a_loss_that_is_no_box(failure):
    class State(Arrays):
        def gradients(self, blocks, retain):
            derive = super().gradients(blocks, retain)

            def run(loss):
                loss._node  # noqa: B018 - as of a loss that is always recorded
                return derive(loss)

            return run

    message = failure("gradients/empty_batch", state=State)
    assert "has no attribute '_node'" in message


def test_recording_that_threads_share(failure, monkeypatch):
    class Flag:
        value = False

        def get(self):
            return self.value

        def set(self, value):
            self.value = value

    flag = Flag()
    monkeypatch.setattr(tape, "recording", flag)
    monkeypatch.setitem(backend.DIALECT.namespace, "recording", flag)
    message = failure("gradients/in_threads")
    assert message.startswith("two derivatives at a time[1]: 2 of 2 values differ")
