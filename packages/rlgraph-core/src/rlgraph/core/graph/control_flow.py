"""Control flow over data, as wiring: loops and branches around API calls, for use in API methods.

Their bodies are traced once into regions of the graph, so everything that holds for calls holds inside them too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from rlgraph.core.errors import AssemblyError
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Expression,
    Index,
    Loop,
    Output,
    Pack,
    Path,
    Ref,
    Source,
    descend,
)
from rlgraph.core.graph.trace import Parts, Symbol, current_trace, to_expression


def loop(
    count: Any,
    body: Callable[..., Any],
    *carried: Any,
    until: Callable[..., Any] | None = None,
    collect: bool = False,
) -> Any:
    """Repeat `body`; wiring, for use in API methods only.

    .. code-block:: python

        def minibatch(i, loss):
            loss = self.loss.loss(*self.batches.get(i, records))
            self.optimizer.step(self.policy.variables(), loss)
            return loss

        return loop(self.num_minibatches, minibatch, self.no_loss())

    Args:
        count: how often: a number, or a symbol of one integer. A collecting loop runs at least once.
        body: ``body(i, *carried)`` wires one iteration and returns the carried values for the next: one value, or a
            tuple of as many as there are. `i` is a symbol of the iteration's number, from 0. With `collect` it
            returns a pair ``(carried, collected)``.
        carried: the values with which the first iteration starts; symbols, containers of them, or numbers. They, and
            what else `body` uses from outside, are data to derivatives that are taken inside.
        until: ``until(*carried)`` wires one bool of the new carried values; the loop ends when it is true.
        collect: stack what every iteration collects along a new first axis of size `count`.

    Returns:
        The carried values after the last iteration: one symbol, or a tuple as `body` returns it. With `collect` the
        pair ``(carried, collected)``.

    Raises:
        AssemblyError: outside of an API method; a count below 1; `until` with `collect`; a body that takes or returns
            another number of values than are carried. The build raises `BuildError` if a carried Space changes.
    """
    trace = current_trace("loop(count, body)")
    where = f"{trace.place('loop(count, body)')}: loop"
    if until is not None and collect:
        raise AssemblyError(
            f"{where}: until= and collect=True exclude each other: how much is collected would be open"
        )
    if not isinstance(count, Symbol) and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise AssemblyError(
            f"{where}: count must be an integer of at least 1 or a symbol of one, given {count!r}"
        )

    _check_takes(body, 1 + len(carried), where, "body(i, *carried)")
    if until is not None:
        _check_takes(until, len(carried), where, "until(*carried)")

    def make(id_: int, caller: int | None, scope: str) -> Loop:
        start = to_expression(carried, where)
        inside = [
            _like(descend(start, (position,)), Carried(id_), (position,)) for position in range(len(carried))
        ]

        def iteration() -> Any:
            returned = body(Symbol(Ref(Index(id_))), *inside)
            leaving, collected = _pair(returned, where) if collect else (returned, None)
            values = _as_tuple(leaving, len(carried), where)
            if collect and collected is None:
                raise AssemblyError(f"{where}: collect=True and the body collects None")
            return values, collected, None if until is None else _decision(until(*values), where)

        region = trace.region(iteration, where)
        return Loop(id_, caller, scope, to_expression(count, where), start, region)

    node = trace.control_flow(make, "loop(count, body)")
    assert isinstance(node, Loop)
    left = _like(node.carried, Output(node.id, 0))
    values = left[0] if len(left) == 1 else left
    return values if node.collected is None else (values, _like(node.collected, Output(node.id, 1)))


def branch(predicate: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *arguments: Any) -> Any:
    """Run one of two pieces of wiring; for use in API methods only.

    .. code-block:: python

        return branch(is_due, self.synchronize, self.keep, step)

    Args:
        predicate: a symbol of one bool.
        then, otherwise: ``f(*arguments)`` wires one side; both return values of equal Spaces, and may write variables.
        arguments: passed to both.

    Returns:
        What the side that ran returned; an empty tuple if nothing.

    Raises:
        AssemblyError: outside of an API method, the predicate is no symbol, or a side does not take the arguments.
            The build raises `BuildError` if the sides give different Spaces or the predicate is not one bool.
    """
    trace = current_trace("branch(predicate, then, otherwise)")
    where = f"{trace.place('branch(predicate, then, otherwise)')}: branch"
    if not isinstance(predicate, Symbol):
        raise AssemblyError(f"{where}: the predicate is no symbol but {predicate!r}: use a Python `if`")

    for name, wiring in (("then(*arguments)", then), ("otherwise(*arguments)", otherwise)):
        _check_takes(wiring, len(arguments), where, name)

    def make(id_: int, caller: int | None, scope: str) -> Branch:
        def side(wiring: Callable[..., Any]) -> Any:
            returned = wiring(*arguments)
            return () if returned is None else returned

        sides = [trace.region(partial(side, wiring), where) for wiring in (then, otherwise)]
        return Branch(id_, caller, scope, predicate.expression, *sides)

    node = trace.control_flow(make, "branch(predicate, then, otherwise)")
    assert isinstance(node, Branch)
    return _like(node.then.results, Output(node.id))


def _check_takes(wiring: Callable[..., Any], number: int, where: str, called: str) -> None:
    """Check that `wiring` is a function that can be called with this number of values."""
    if not callable(wiring):
        raise AssemblyError(f"{where}: {called} must be a function, given {wiring!r}")
    try:
        inspect.signature(wiring).bind(*[None] * number)
    except TypeError as error:
        given = f"{number} value{'s' * (number != 1)}"
        raise AssemblyError(f"{where}: {called} is called with {given} here: {error}") from None


def _like(expression: Expression, source: Source, path: Path = ()) -> Any:
    """Symbols of the parts of a source that is made like `expression`: literals can be unpacked."""
    if isinstance(expression, Pack):
        items = Parts({key: _like(item, source, (*path, key)) for key, item in expression.items})
        return items if expression.kind is dict else tuple(items.values())
    return Symbol(Ref(source, path))


def _decision(returned: Any, where: str) -> Any:
    if returned is None:
        raise AssemblyError(f"{where}: until= returned None; it returns one bool of the new carried values")
    return returned


def _pair(returned: Any, where: str) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise AssemblyError(
            f"{where}: with collect=True the body returns (carried, collected), given {returned!r}"
        )
    return returned


def _as_tuple(leaving: Any, wanted: int, where: str) -> tuple[Any, ...]:
    if wanted == 1:
        values: tuple[Any, ...] = (leaving,)
    else:
        values = () if leaving is None else leaving if isinstance(leaving, tuple) else (leaving,)
    if len(values) != wanted or any(value is None for value in values):
        raise AssemblyError(
            f"{where}: it carries {wanted} value{'s' * (wanted != 1)}, and its body returned {leaving!r}; "
            "the body returns what the next iteration starts with"
        )
    return values
