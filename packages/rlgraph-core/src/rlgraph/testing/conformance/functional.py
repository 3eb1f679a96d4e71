"""Section ``functional``: the functions of `rlgraph.core.functional`, and their derivatives, on a backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rlgraph.core import Component, graph_fn
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import TensorSpec, leaves_of, map_nested
from rlgraph.testing.conformance.cases import FUNCTIONS, FunctionCase
from rlgraph.testing.conformance.checks import Subject, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import derivatives, difference_quotient
from rlgraph.testing.conformance.probes import wiring


def leaves(value: Any) -> list[Any]:
    """The parts of nested containers that are arrays or tensors."""
    return [leaf for leaf in leaves_of(value) if hasattr(leaf, "dtype")]


def filled(value: Any, tensors: Iterator[Any]) -> Any:
    """`value` with its `leaves` replaced, in their order."""
    return map_nested(lambda leaf: next(tensors) if hasattr(leaf, "dtype") else leaf, value)


def on_reference(case: FunctionCase) -> list[np.ndarray]:
    """All results of the reference, in float64."""
    return leaves(case.function(NumpyOps("float64"), **case.arguments))


def _component(case: FunctionCase, names: list[str]) -> Component:
    count = len(on_reference(case))

    def _call(self: Any, ops: Any, tensors: Any) -> Any:
        results = leaves(case.function(ops, **filled(case.arguments, iter(tensors))))
        return tuple(results) if count > 1 else results[0]

    members = {
        "_call": graph_fn(returns=count)(_call),
        "call": wiring(names, lambda self, **tensors: self._call(tuple(tensors.values()))),
    }
    return type("Function", (Component,), members)(scope="function")


@check_each("functional", FUNCTIONS)
def agrees(subject: Subject, case: FunctionCase) -> None:
    """What a function returns is what it returns on the reference, in float64."""
    arrays = leaves(case.arguments)
    names = [f"x{number}" for number in range(len(arrays))]
    spaces = {
        name: TensorSpec(array.shape, str(array.dtype)).to_space()
        for name, array in zip(names, arrays, strict=True)
    }
    given = subject.executor(_component(case, names), spaces, dtype="float64").execute("call", *arrays)
    assert_same(leaves(given), [np.asarray(result) for result in on_reference(case)], 1e-10)


@check_each(
    "functional derivatives",
    {name: case for name, case in FUNCTIONS.items() if case.by},
    capabilities=lambda _: ("gradients",),
)
def right_derivatives(subject: Subject, case: FunctionCase) -> None:
    """The derivatives of its results by the arguments `case.by` are the difference quotients of the reference."""
    by = {name: case.arguments[name] for name in case.by}
    rest = {name: value for name, value in case.arguments.items() if name not in by}
    moved, others = [leaf.copy() for leaf in leaves(by)], leaves(rest)
    rng = np.random.default_rng(0)
    directions = [
        rng.standard_normal(result.shape) for result in on_reference(case) if result.dtype.kind == "f"
    ]

    def loss(ops: Any, variables: Any, inputs: Any) -> Any:
        """The results in the given directions, a number."""
        tensors = iter(inputs)
        arguments = {**filled(by, iter(variables)), **filled(rest, tensors)}
        results = [x for x in leaves(case.function(ops, **arguments)) if "float" in str(x.dtype)]
        terms = [ops.sum(result * direction) for result, direction in zip(results, tensors, strict=True)]
        return sum(terms[1:], start=terms[0])

    inputs = [*others, *directions]
    given = derivatives(subject, loss, moved, inputs)
    ops = NumpyOps("float64")
    expected = np.concatenate(
        [difference_quotient(lambda: float(loss(ops, moved, inputs)), array) for array in moved]
    )
    assert_same(given, expected, 1e-5 * max(1.0, float(np.abs(expected).max())), "derivatives")
