"""Tables of calls as components: every call of an operation is one output of one API method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rlgraph.core import Component, graph_fn
from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.spaces import Space
from rlgraph.testing.conformance.probes import wiring
from rlgraph.testing.operations import Call, Indices, concrete


def drawn_calls(calls: st.SearchStrategy[Call], number: int) -> list[Call]:
    """`number` different calls, the same ones every time."""
    found: list[Call] = []

    @settings(
        max_examples=number,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(calls)
    def collect(call: Call) -> None:
        if call not in found:
            found.append(call)

    collect()
    return found


def various(calls: Sequence[Call], number: int) -> list[Call]:
    """`number` of `calls`, chosen so that every kind of argument and every option is among them if it can be."""
    left, chosen, seen = list(calls), list[Call](), set[Any]()
    while left and len(chosen) < number:
        best = max(left, key=lambda call: len(_features(call) - seen))
        left.remove(best)
        chosen.append(best)
        seen |= _features(best)
    return chosen


def _features(call: Call) -> set[Any]:
    """What is special about a call: per argument its dtype and rank, or its Python type; per option its value."""
    kinds = {
        (place, spec.dtype[0], len(spec.shape)) if isinstance(spec, TensorSpec) else (place, type(spec))
        for place, spec in enumerate(call.args)
    }
    return kinds | {(name, repr(value)) for name, value in call.kwargs.items()}


def in_dtype(value: Any, float_dtype: str) -> Any:
    """`value` (a `Call` or a part of one) with its float tensors in `float_dtype`."""
    if isinstance(value, Call):
        return Call(in_dtype(value.args, float_dtype), value.kwargs)
    if isinstance(value, TensorSpec):
        return replace(value, dtype=float_dtype) if value.is_float else value
    return _each(lambda item: in_dtype(item, float_dtype), value)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """The items of a list or tuple through `function`; any other value as it is."""
    return type(value)(map(function, value)) if isinstance(value, list | tuple) else value


def specs_of(value: Any) -> Iterator[TensorSpec]:
    """The tensors of a call, in order."""
    if isinstance(value, TensorSpec):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from specs_of(item)


def filled(value: Any, tensors: Iterator[Any]) -> Any:
    """`value` with the next of `tensors` for each of its specs."""
    if isinstance(value, TensorSpec):
        return next(tensors)
    return _each(lambda item: filled(item, tensors), value)


def closed(value: Any, sizes: Any) -> Any:
    """`value` (a `Call` or a part of one) with numbers for its sizes; specs stay specs."""
    if isinstance(value, Call):
        return Call(closed(value.args, sizes), concrete(value.kwargs, sizes, None))  # type: ignore[arg-type]
    if isinstance(value, TensorSpec):
        shape = concrete(value.shape, sizes, None)  # type: ignore[arg-type]
        return (
            Indices.into(closed(value.size, sizes), shape, value.dtype)
            if isinstance(value, Indices)
            else value.with_shape(shape)
        )
    if isinstance(value, SymbolicDim):
        return concrete(value, sizes, None)  # type: ignore[arg-type]
    return _each(lambda item: closed(item, sizes), value)


def where_open(call: Call, sizes: Any) -> Call:
    """`call` with open sizes where a Space can have them, in all its tensors or in none."""
    if _has_symbols(call.kwargs) or _has_symbols(call.args):
        return closed(call, sizes)
    return call if all(_has_space(spec) for spec in specs_of(call.args)) else closed(call, sizes)


def _has_symbols(value: Any) -> bool:
    """Whether a size itself, not that of a tensor, is an argument."""
    if isinstance(value, dict):
        return _has_symbols(list(value.values()))
    return isinstance(value, SymbolicDim) or (
        isinstance(value, list | tuple) and any(map(_has_symbols, value))
    )


def _has_space(spec: TensorSpec) -> bool:
    try:
        return TensorSpec.from_space(spec.to_space(), spec.dtype).shape == spec.shape
    except ValueError:
        return False


class Calls(Component):
    """A table of calls; made by `calls_component`."""

    def __init__(self, run: Callable[..., Any], calls: Sequence[Call]):
        self.apply, self.calls = run, list(calls)
        super().__init__(scope="calls")

    @graph_fn
    def _results(self, ops: Any, tensors: Any) -> Any:
        arguments = iter(tensors)
        return tuple(self._result(ops, call, arguments) for call in self.calls)

    def _result(self, ops: Any, call: Call, arguments: Iterator[Any]) -> Any:
        try:
            return self.apply(ops, *filled(call.args, arguments), **call.kwargs)
        except Exception as error:
            error.add_note(f"in the call {call.args} {call.kwargs}")
            raise


def calls_component(run: Callable[..., Any], calls: Sequence[Call]) -> tuple[Component, dict[str, Space]]:
    """A component with one API method ``results``, and its Spaces.

    Args:
        run: ``f(ops, *args, **kwargs)``.
        calls: their tensors, in order, are the method's arguments; it returns the tuple of all results.
    """
    specs = [spec for call in calls for spec in specs_of(call.args)]
    spaces = {f"x{number}": spec.to_space() for number, spec in enumerate(specs)}
    results = wiring(list(spaces), lambda self, **tensors: self._results(tuple(tensors.values())))
    return type("Calls", (Calls,), {"results": results})(run, calls), dict(spaces)


def arrays_of(value: Any) -> list[np.ndarray]:
    """The tensors of a concrete call, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for item in value for array in arrays_of(item)] if isinstance(value, list | tuple) else []
