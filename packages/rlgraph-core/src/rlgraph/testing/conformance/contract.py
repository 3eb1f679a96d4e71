"""Section ``contract``: what a backend declares and offers."""

from __future__ import annotations

import inspect
from typing import Any

from rlgraph.core import BuildError, CapabilityError, ExecutionSpec, GraphExecutor, find_backend
from rlgraph.core.errors import nearest
from rlgraph.core.ops import CONTRACT_VERSION, OPERATIONS, Operation
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.probes import flat_gradients, probe


@check("contract")
def descriptor(subject: Subject) -> None:
    """The descriptor can be found, and fits the backend it makes."""
    found = find_backend(subject.backend)
    assert found.contract_version == CONTRACT_VERSION
    for alias in found.aliases:
        assert find_backend(alias) == found, f"alias {alias!r} means another backend"
    backend = subject.create(seed=3)
    assert backend.name == found.name
    assert backend.capabilities == found.capabilities
    assert backend.execution == ExecutionSpec(seed=3), "Backend.execution is not what it was made with"


@check("contract")
def names(subject: Subject) -> None:
    """Every operation of the contract is in the backend's `ops`."""
    ops = subject.create().ops
    offered = [name for name in dir(ops) if not name.startswith("_")]
    missing = [name for name in ("shape", *OPERATIONS) if not callable(getattr(ops, name, None))]
    hints = [f"{name} ({nearest(name, offered)})" for name in missing]
    assert not missing, f"missing operations: {', '.join(hints)}"


@check("contract")
def signatures(subject: Subject) -> None:
    """Every operation takes its arguments as its rule does."""
    ops = subject.create().ops
    wrong = [
        problem
        for name, operation in OPERATIONS.items()
        if hasattr(ops, name) and (problem := _misfit(getattr(ops, name), operation))
    ]
    assert not wrong, "\n".join(wrong)


def _misfit(function: Any, operation: Operation) -> str:
    """What is wrong with the signature of `function`; empty if nothing is, or if it does not tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    parameters = list(operation.signature.parameters.values())
    required = [p for p in parameters if p.default is p.empty]
    options = {p.name: p.default for p in parameters if p.default is not p.empty}
    tensors = [p for p in required if "TensorSpec" in p.annotation or "Operand" in p.annotation]
    named = {p.name: p.default for p in required if p not in tensors} | options
    if operation.family == "control" or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        named = {}  # arguments before tensors are positional
    for args, kwargs in (
        ([p.default for p in parameters], {}),
        ([p.default for p in required], options),
        ([p.default for p in required], {}),
        *([([p.default for p in tensors], named)] if named else []),
    ):
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"ops.{operation.name}{signature} does not take what {operation.signature} takes: {error}"
    return ""


@check("contract")
def devices(subject: Subject) -> None:
    """A component is built on every device that the backend offers; on any other it is refused."""

    def run(self: Any, ops: Any, x: Any) -> Any:
        return x * self.a

    def build(device: str) -> GraphExecutor:
        root = probe(run, variables={"a": (FloatBox(), 3.0)})
        return subject.executor(root, {"x": FloatBox()}, device=device)

    offered = subject.create().devices
    assert isinstance(offered, frozenset) and offered, (
        f"Backend.devices is {offered!r}, not a frozenset of names"
    )
    for device in sorted(offered):
        assert build(device).execute("run", 2.0) == 6.0, f"wrong result on {device}"
    try:
        build("a device nobody has")
    except BuildError as error:
        assert "a device nobody has" in str(error)
    else:
        raise AssertionError("a component was built on a device that Backend.devices does not name")


@check("contract", unless=("gradients",))
def refusal(subject: Subject) -> None:
    """A method that needs gradients is refused where they are not declared; all others run."""
    root = flat_gradients(
        lambda ops, weights, tensors: ops.sum(weights[0]), [FloatBox(shape=(2,))], [1.0], []
    )
    executor = subject.executor(root)
    assert executor.execute("loss") == 2.0
    try:
        executor.execute("derivatives")
    except CapabilityError as error:
        assert subject.backend in str(error)
    else:
        raise AssertionError("a method that needs gradients ran on a backend that does not declare them")
