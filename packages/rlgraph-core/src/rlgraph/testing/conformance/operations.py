"""Sections ``operations`` and ``operators``: every operation compared with the reference, in both execution dtypes.

Values agree within the tolerance of the operation, shapes and dtypes exactly. Where a Space allows it, sizes are open
while the backend compiles, and the compiled program runs with two sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.testing.conformance.calls import (
    arrays_of,
    calls_component,
    drawn_calls,
    in_dtype,
    various,
    where_open,
)
from rlgraph.testing.conformance.checks import Subject, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.operations import OPERATION_CASES, OPERATORS, SIZES, Call, Cases, concrete

#: Calls per operation and dtype.
CALLS = 8


@dataclass(frozen=True)
class Entry:
    """One operation or operator in one execution dtype: ``run(ops, *args, **kwargs)`` and its cases."""

    key: str
    run: Callable[..., Any]
    cases: Cases
    dtype: str = "float32"


def named_operation(name: str) -> Callable[..., Any]:
    return lambda ops, *args, **kwargs: getattr(ops, name)(*args, **kwargs)


def operator_function(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _ops, *args: function(*args)


def entries(*dtypes: str) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """Operations and operators by name and, if there are several, dtype."""

    def name(key: str, dtype: str) -> str:
        return f"{key}-{dtype}" if len(dtypes) > 1 else key

    return (
        {
            name(key, dtype): Entry(f"ops.{key}", named_operation(key), cases, dtype)
            for key, cases in OPERATION_CASES.items()
            for dtype in dtypes
        },
        {
            name(key, dtype): Entry(key, operator_function(operator.function), operator.cases, dtype)
            for key, operator in OPERATORS.items()
            for dtype in dtypes
        },
    )


@cache
def calls_of(key: str) -> tuple[Call, ...]:
    """Calls of an operation (``ops.tanh``) or operator (``+``); drawn once per process."""
    cases = OPERATION_CASES[key[4:]] if key.startswith("ops.") else OPERATORS[key].cases
    return (*various(drawn_calls(cases.calls, 2 * CALLS), CALLS), *cases.always)


def agrees(subject: Subject, entry: Entry) -> None:
    """All calls give what the reference gives."""
    calls = [where_open(in_dtype(call, entry.dtype), SIZES[0]) for call in calls_of(entry.key)]
    component, spaces = calls_component(entry.run, calls)
    executor = subject.executor(component, spaces, dtype=entry.dtype)
    for number, sizes in enumerate(SIZES[:2]):
        rng = np.random.default_rng(number)
        numbers = [concrete(call, sizes, rng) for call in calls]
        with np.errstate(all="ignore"):
            given = executor.execute(
                "results", *(array for n in deepcopy(numbers) for array in arrays_of(n.args))
            )
            expected = [entry.run(NumpyOps(entry.dtype), *n.args, **n.kwargs) for n in numbers]
        for call, one, other in zip(calls, given, expected, strict=True):
            assert_same(
                one, other, _tolerance(entry, other), f"{shown(entry.key, call)} with sizes {dict(sizes)}"
            )


def _tolerance(entry: Entry, result: Any) -> float:
    """That of the coarsest float among the results."""
    parts = result if isinstance(result, tuple | list) else [result]
    return max(entry.cases.tolerance(np.asarray(part).dtype) for part in parts)


def shown(key: str, call: Call) -> str:
    """The call as one would write it, with specs for tensors."""
    parts = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.kwargs.items())]
    return f"{key}({', '.join(parts)})"


OPERATION_ENTRIES, OPERATOR_ENTRIES = entries("float32", "float64")
check_each("operations", OPERATION_ENTRIES)(agrees)
check_each("operators", OPERATOR_ENTRIES)(agrees)
