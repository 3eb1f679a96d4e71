"""Several calls as one: which arguments are the same object, and so one input of the fused program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlgraph.core.errors import InputError
from rlgraph.core.graph import BuiltGraph
from rlgraph.core.graph.call_fusion import FusedCall
from rlgraph.core.graph.nodes import Input


def fused_calls(
    built: BuiltGraph, calls: Iterable[tuple[str, Sequence[Any]]]
) -> tuple[tuple[FusedCall, ...], list[Any]]:
    """Calls, each a method and its arguments, in terms of their distinct inputs; and the values of these.

    Raises:
        InputError: there is no call, or one has another number of arguments than its method.
    """
    inputs: list[tuple[Any, Any]] = []
    fused = tuple(
        FusedCall(name, tuple(_position(built, Input(name, p), value, inputs) for p, value in given))
        for name, given in ((name, _given(built, name, args)) for name, args in calls)
    )
    if not fused:
        raise InputError("execute([calls]): the list of calls is empty")
    return fused, [value for value, _ in inputs]


def _given(built: BuiltGraph, name: str, args: Sequence[Any]) -> list[tuple[str, Any]]:
    """Parameters of a method and what they are given, default values included."""
    method = built.graph.methods[name]
    rest = method.parameters[len(args) :]
    given = [*args, *(method.defaults[p] for p in rest if p in method.defaults)]
    if len(given) != len(method.parameters):
        raise InputError(
            f"{name}({', '.join(method.parameters)}) was given {len(args)} arguments; several calls are "
            "[(method, *arguments), ...]"
        )
    return list(zip(method.parameters, given, strict=True))


def _position(built: BuiltGraph, source: Input, value: Any, inputs: list[tuple[Any, Any]]) -> int:
    """Where `value` is among the distinct inputs, pairs of an object and what it must be; it is added if need be."""
    spec = built.values[source]
    for position, (other, same) in enumerate(inputs):
        if other is value and same == spec:
            return position
    inputs.append((value, spec))
    return len(inputs) - 1
