"""Recording: while an API method of the root runs with symbols, every call it makes becomes data.

The trace in progress is held in a `ContextVar`: no stack inspection, no source reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from rlgraph.core.errors import AssemblyError
from rlgraph.core.graph.nodes import (
    ApiCall,
    Branch,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Loop,
    Node,
    Output,
    Pack,
    Parameter,
    Ref,
    Region,
    Result,
    VariablesOf,
    descend,
)

_current: ContextVar[Trace | None] = ContextVar("rlgraph_trace", default=None)

#: What a call returns while its body runs.
_UNFINISHED = Const(None)


class Symbol:
    """A value inside an API method. Wiring may pass it on or take a part of it, nothing else."""

    __slots__ = ("_expression",)

    def __init__(self, expression: Expression):
        self._expression = expression

    @property
    def expression(self) -> Expression:
        return self._expression

    def __getitem__(self, key: str | int) -> Symbol:
        return Symbol(descend(self._expression, (key,)))

    def __repr__(self) -> str:
        return f"Symbol({self._expression})"

    def _wiring_only(self, *_: object) -> NoReturn:
        raise AssemblyError(
            "an API method only wires: a symbol has no value, no truth and no arithmetic. "
            "Compute inside a @graph_fn, or decide with configuration"
        )

    __bool__ = __iter__ = __len__ = __float__ = __int__ = __index__ = _wiring_only
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _wiring_only
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = (
        _wiring_only
    )
    __and__ = __rand__ = __or__ = __ror__ = __neg__ = __invert__ = __abs__ = _wiring_only
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _wiring_only
    __hash__ = object.__hash__


def to_expression(value: Any, where: str) -> Expression:
    """The expression of anything an API method may pass: symbols, literals of them, constants."""
    if isinstance(value, Symbol):
        return value.expression
    if isinstance(value, Mapping):
        for key in value:
            if not (isinstance(key, str) and key.isidentifier()):
                raise AssemblyError(f"{where}: keys of a dict of values must be identifiers, given {key!r}")
        return Pack(dict, tuple((key, to_expression(value[key], where)) for key in sorted(value)))
    if isinstance(value, list | tuple):
        return Pack(tuple, tuple((i, to_expression(item, where)) for i, item in enumerate(value)))
    return Const(value)


def to_symbols(expression: Expression) -> Any:
    """What an API method gets back: containers can be unpacked, everything else is a `Symbol`."""
    if isinstance(expression, Pack):
        items = {key: to_symbols(item) for key, item in expression.items}
        return items if expression.kind is dict else tuple(items.values())
    return Symbol(expression)


@dataclass
class Trace:
    """One assembly in progress."""

    nodes: dict[int, Node] = field(default_factory=dict)
    calls: dict[int, ApiCall] = field(default_factory=dict)
    _stack: list[tuple[int, Any, str]] = field(default_factory=list)
    _open: list[list[Node]] = field(default_factory=lambda: [[]])
    _next_id: int = 0

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    @property
    def _caller(self) -> int | None:
        return self._stack[-1][0] if self._stack else None

    def unfinished(self) -> list[ApiCall]:
        """The API calls in progress, or those that an error ended, outermost first."""
        return [call for _, call in sorted(self.calls.items()) if call.results is _UNFINISHED]

    def _record(self, node: Node) -> None:
        self.nodes[node.id] = node
        self._open[-1].append(node)

    def take_recorded(self) -> tuple[Node, ...]:
        """The nodes recorded since the last time, outside of regions."""
        recorded = tuple(self._open[-1])
        self._open[-1].clear()
        return recorded

    def place(self, what: str) -> str:
        """The scope of the component whose API method is being traced.

        Raises:
            AssemblyError: `what` is used outside of any.
        """
        if not self._stack:
            raise AssemblyError(f"{what} belongs into an API method")
        scope: str = self._stack[-1][1].scope_path
        return scope

    def region(self, body: Callable[[], Any], where: str) -> Region:
        """Trace `body` into a region of its own."""
        self._open.append([])
        try:
            results = to_expression(body(), where)
        finally:
            nodes = self._open.pop()
        return Region(tuple(nodes), results)

    def control_flow(self, make: Callable[[int, int | None, str], Loop | Branch], what: str) -> Loop | Branch:
        """Record a loop or branch, made by ``make(id, caller, scope)``, which traces its regions."""
        scope = self.place(what)
        node = make(self._new_id(), self._caller, scope)
        self._record(node)
        return node

    def call_api(
        self,
        component: Any,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Trace the body of an API method of `component` and return what it returns."""
        where = f"{component.scope_path}.{name}"
        if any(owner is component and method == name for _, owner, method in self._stack):
            chain = " -> ".join(f"{owner.scope_path}.{method}" for _, owner, method in self._stack)
            raise AssemblyError(f"{where} calls itself: {chain} -> {where}")
        arguments = bind_arguments(function, component, args, kwargs, where)
        call, caller = self._new_id(), self._caller
        expressions = {key: to_expression(value, where) for key, value in arguments.items()}
        inside = {key: _seen_from_inside(call, key, e) for key, e in expressions.items()}
        started = ApiCall(call, caller, component.scope_path, name, tuple(expressions.items()), _UNFINISHED)
        self.calls[call] = started
        self._stack.append((call, component, name))
        try:
            results = to_expression(function(component, **inside), where)
        finally:
            self._stack.pop()
        self.calls[call] = replace(started, results=results)
        return _seen_from_outside(call, results)

    def call_graph_function(
        self,
        component: Any,
        name: str,
        arguments: Mapping[str, Any],
        returns: int,
        host: bool,
    ) -> Any:
        """Record a call of a graph function; its body is not run before the build."""
        where = f"{component.scope_path}.{name}"
        if not self._stack or self._stack[-1][1] is not component:
            at = (
                f"{self._stack[-1][1].scope_path}.{self._stack[-1][2]}"
                if self._stack
                else "outside any API method"
            )
            raise AssemblyError(
                f"graph function {where} is called from {at}: components talk through API methods only; "
                f"call an API method of {component.scope_path}"
            )
        node = self._new_id()
        expressions = tuple((key, to_expression(value, where)) for key, value in arguments.items())
        self._record(
            GraphFunctionCall(node, self._caller, component.scope_path, name, expressions, returns, host)
        )
        outputs = tuple(Symbol(Ref(Output(node, i))) for i in range(returns))
        return outputs[0] if returns == 1 else outputs

    def variables_of(self, component: Any) -> Symbol:
        """Record that the list of the variables below `component` is needed."""
        node = self._new_id()
        self._record(VariablesOf(node, self._caller, component.scope_path))
        return Symbol(Ref(Output(node)))

    def gradients(self, loss: Any, variables: Any) -> Symbol:
        """Record the derivatives of `loss` by `variables`."""
        scope = self.place("gradients(loss, variables)")
        node = self._new_id()
        self._record(
            Gradients(node, self._caller, scope, to_expression(loss, scope), to_expression(variables, scope))
        )
        return Symbol(Ref(Output(node)))


def _seen_from_inside(call: int, name: str, expression: Expression) -> Any:
    # A constant argument stays a plain value, so that configuration can be decided on in Python.
    return expression.value if isinstance(expression, Const) else Symbol(Ref(Parameter(call, name)))


def _seen_from_outside(call: int, results: Expression, path: tuple[str | int, ...] = ()) -> Any:
    if isinstance(results, Pack):
        items = {key: _seen_from_outside(call, item, (*path, key)) for key, item in results.items}
        return items if results.kind is dict else tuple(items.values())
    if isinstance(results, Const):
        return results.value
    return Symbol(Ref(Result(call), path))


def bind_arguments(
    function: Callable[..., Any], component: Any, args: tuple[Any, ...], kwargs: dict[str, Any], where: str
) -> dict[str, Any]:
    """The arguments of a call by parameter name, defaults filled in.

    Raises:
        AssemblyError: too few, too many or unknown arguments.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(component, *args, **kwargs)
    except TypeError as error:
        shown = [p for p in signature.parameters if p != "self"]
        raise AssemblyError(f"{where}({', '.join(shown)}): {error}") from None
    bound.apply_defaults()
    return dict(list(bound.arguments.items())[1:])


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make `trace` the current one."""
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)


def current_trace(what: str) -> Trace:
    """The trace in progress.

    Raises:
        AssemblyError: there is none.
    """
    trace = _current.get()
    if trace is None:
        raise AssemblyError(
            f"{what} can only be called while a component graph is assembled; "
            "to run it, build the component: ComponentTest(component, input_spaces) or GraphExecutor"
        )
    return trace


def gradients(loss: Any, variables: Any) -> Symbol:
    """The derivatives of the scalar `loss` by each of `variables`; wiring, for use in API methods only.

    Args:
        loss: symbol of a float tensor without axes.
        variables: what ``component.variables()`` returned.

    Returns:
        A symbol of the list of derivatives, parallel to `variables`.
    """
    return current_trace("gradients(loss, variables)").gradients(loss, variables)
