"""Recording: while an API method of the root runs with symbols, every call it makes becomes data.

The trace in progress is held in a `ContextVar`: no stack inspection, no source reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

from rlgraph.core.errors import AssemblyError, BuildError, no_part, offer
from rlgraph.core.former_names import with_present_names
from rlgraph.core.graph.flat_keys import common_keys, is_flat, nest
from rlgraph.core.graph.nodes import (
    ApiCall,
    Branch,
    Collective,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Input,
    JoinedVariables,
    Loop,
    Node,
    Output,
    Pack,
    Parameter,
    Path,
    Ref,
    Region,
    Result,
    Source,
    VariablesOf,
    descend,
    label,
    references,
)
from rlgraph.core.name_hints import former_names
from rlgraph.spaces import Dict, Space, Tuple

_current: ContextVar[Trace | None] = ContextVar("rlgraph_trace", default=None)

#: What a call returns while its body runs.
_UNFINISHED = Const(None)


class NotAssembling(AssemblyError):
    """Wiring (`what`) was called while nothing is assembled."""

    def __init__(self, what: str, message: str):
        super().__init__(message)
        self.what = what


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
        if not isinstance(self._expression, Ref):
            return f"Symbol({self._expression})"
        source = self._expression.source
        kind = type(source).__name__.lower()
        return f"Symbol({'.'.join([getattr(source, 'name', kind), *map(str, self._expression.path)])})"

    def __add__(self, other: Any) -> Symbol:
        """One list of variables out of two."""
        trace = _current.get()
        joined = trace.joined_variables(self, other) if trace else None
        return self._wiring_only() if joined is None else joined

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{_here()}an API method only wires: a symbol has no {name!r}. Compute inside a @graph_fn, where it is a "
            "tensor; a part is symbol[key]"
        )

    def _wiring_only(self, *_: object) -> NoReturn:
        raise AssemblyError(
            f"{_here()}an API method only wires: a symbol has no value, no truth, no length and no arithmetic. "
            "Compute inside a @graph_fn, or decide with configuration; several outputs are declared with "
            "@graph_fn(returns=n), a part is symbol[key]"
        )

    __bool__ = __iter__ = __len__ = __float__ = __int__ = __index__ = _wiring_only
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _wiring_only
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = (
        _wiring_only
    )
    __and__ = __rand__ = __or__ = __ror__ = __neg__ = __invert__ = __abs__ = _wiring_only
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _wiring_only
    __array__ = __array_ufunc__ = __array_function__ = _wiring_only
    __hash__ = object.__hash__


class Parts(dict[Any, Any]):
    """A dict of symbols."""

    def __missing__(self, key: object) -> NoReturn:
        raise AssemblyError(f"{_here()}{no_part(key, self)}")


class KnownDict(dict[Any, Any]):
    """A known dict of parts of `ref`. The build reports a missing part, after the component's own checks."""

    def __init__(self, ref: Ref, parts: Mapping[Any, Any]):
        super().__init__(parts)
        self._ref = ref

    def __missing__(self, key: str | int) -> Symbol:
        return Symbol(descend(self._ref, (key,)))


def _here() -> str:
    """The API method that is traced, as the beginning of a message."""
    trace = _current.get()
    return f"{trace._place}: " if trace and trace._stack else ""


def to_expression(value: Any, where: str) -> Expression:
    """The expression of anything an API method may pass: symbols, literals of them, constants."""
    if isinstance(value, Symbol):
        return value.expression
    if isinstance(value, Mapping):
        for key in value:
            if not (isinstance(key, str) and key.isidentifier()):
                raise AssemblyError(f"{where}: keys of a dict of values must be identifiers, given {key!r}")
        pack = Pack(dict, tuple((key, to_expression(value[key], where)) for key in sorted(value)))
        trace = _current.get()
        return trace.whole_of(pack) if trace else pack
    if isinstance(value, list | tuple):
        return Pack(tuple, tuple((i, to_expression(item, where)) for i, item in enumerate(value)))
    return Const(value)


def to_symbols(expression: Expression) -> Any:
    """What an API method gets back: containers can be unpacked, everything else is a `Symbol`."""
    if isinstance(expression, Pack):
        items = Parts({key: to_symbols(item) for key, item in expression.items})
        return items if expression.kind is dict else tuple(items.values())
    return Symbol(expression)


@dataclass
class Trace:
    """One assembly in progress.

    Attributes:
        components: those it may reach, by scope.
        spaces: Spaces of the root's arguments, as far as they are known.
        in_group: whether several learners will run the graph together.
        updates: whether an algorithm's update is traced, see `updating`.
        shared: whether equal calls are one, although they draw or write, see `shared_calls`.
    """

    components: Mapping[str, Any] = field(default_factory=dict)
    spaces: Mapping[Input, Space] = field(default_factory=dict)
    in_group: bool = False
    updates: bool = False
    shared: bool = False
    nodes: dict[int, Node] = field(default_factory=dict)
    calls: dict[int, ApiCall] = field(default_factory=dict)
    _stack: list[tuple[int, Any, str]] = field(default_factory=list)
    _open: list[list[Node]] = field(default_factory=lambda: [[]])
    #: The arguments of each call, in which known containers are written out.
    _arguments: dict[int, dict[str, Expression]] = field(default_factory=dict)
    #: Outputs of graph functions that are known containers, written out.
    _structures: dict[Source, Expression] = field(default_factory=dict)
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
        self, component: Any, name: str, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Trace the body of the API method that `component` knows as `name` and return what it returns."""
        function, options = method.function, method.options
        where = f"{component.scope_path}.{name}"
        self._check_callable(component, name, where)
        leading = (None,) if options.add_auto_key_as_first_param else ()
        arguments = bind_arguments(method.signature, component, (*leading, *args), kwargs, where)
        if self._is_super_call(component, name, function):
            return function(component, **arguments)
        if any(owner is component and other == name for _, owner, other in self._stack):
            chain = " -> ".join(f"{owner.scope_path}.{method}" for _, owner, method in self._stack)
            raise AssemblyError(f"{where} calls itself: {chain} -> {where}")
        for key in list(arguments)[: len(leading)]:
            arguments.pop(key)
        call, caller = self._new_id(), self._caller
        expressions = {key: to_expression(value, where) for key, value in arguments.items()}
        self._arguments[call] = {key: self._literal(e) for key, e in expressions.items()}
        returning = partial(ApiCall, call, caller, component.scope_path, name, tuple(expressions.items()))
        self.calls[call] = returning(_UNFINISHED)
        self._stack.append((call, component, name))
        try:
            if options.flatten_ops:
                results = self._run_flat(component, function, options, call, where)
            else:
                inside = {key: self._seen_from_inside(call, key) for key in expressions}
                results = to_expression(function(component, **inside), where)
        finally:
            self._stack.pop()
        check_returns(results, options.returns, where)
        if options.returns is None and isinstance(results, Const) and results.value is None:
            self._check_return(call, where)
        self.calls[call] = returning(results)
        return _seen_from_outside(call, results)

    def _check_return(self, call: int, where: str) -> None:
        """Check that an API method that returned nothing has not forgotten its `return`.

        Raises:
            AssemblyError: its last call gives a value, and calls no host function, which may be there for its effect.
        """
        made: Iterable[Node | ApiCall] = (*self.nodes.values(), *self.calls.values())
        last = max((each for each in made if each.caller == call), key=lambda each: each.id, default=None)
        if isinstance(last, ApiCall):
            gives, name = any(True for _ in references(last.results)), f"{last.component}.{last.method}"
        elif isinstance(last, GraphFunctionCall):
            gives, name = last.returns > 0, label(last)
        else:
            return
        inside = (node for id_, node in self.nodes.items() if id_ >= last.id)
        if gives and not any(isinstance(node, GraphFunctionCall) and node.host for node in inside):
            raise AssemblyError(
                f"{where} returns nothing, and its last call {name} gives a value: return that, or declare "
                "@rlgraph_api(returns=0)"
            )

    def _check_callable(self, component: Any, name: str, where: str) -> None:
        self._check_composed(component, where)
        if name in component.switched_off_apis:
            raise AssemblyError(
                f"{where} is switched off by switched_off_apis of {component!r}, and is called"
                + (f" by {self._place}" if self._stack else "")
            )

    def _check_composed(self, component: Any, where: str) -> None:
        if self.components and self.components.get(component.scope_path) is not component:
            raise AssemblyError(
                f"{where} is called by {self._place}, and {component!r} is composed nowhere below the root: "
                "give it to super().__init__ or add_components"
            )

    @property
    def _place(self) -> str:
        """The API method in whose body the trace is."""
        return f"{self._stack[-1][1].scope_path}.{self._stack[-1][2]}"

    def _is_super_call(self, component: Any, name: str, function: Callable[..., Any]) -> bool:
        """Whether a method calls the one it overrides: that is part of its own body, and no call of the API."""
        inside = bool(self._stack) and self._stack[-1][1] is component and self._stack[-1][2] == name
        return inside and component.api_method(name).function is not function

    # What a body sees of its arguments.

    def _seen_from_inside(self, call: int, name: str) -> Any:
        """An argument in the body of its method: known dicts are dicts, so that wiring can ask for their keys."""
        return _seen(Ref(Parameter(call, name)), self._arguments[call][name])

    def whole_of(self, pack: Pack) -> Expression:
        """The argument, or output, of which `pack` holds exactly the parts; else `pack`."""
        refs = [item for _, item in pack.items if isinstance(item, Ref)]
        if not refs or not refs[0].path:
            return pack
        source, path = refs[0].source, refs[0].path[:-1]
        if not isinstance(source, Parameter) and source not in self._structures:
            return pack
        literal = self._literal(Ref(source, path))
        parts = literal.items if isinstance(literal, Pack) and literal.kind is dict else ()
        expected = tuple(
            (key, item if isinstance(item, Const) else Ref(source, (*path, key))) for key, item in parts
        )
        return Ref(source, path) if expected == pack.items else pack

    def _run_flat(
        self, component: Any, function: Callable[..., Any], options: Any, call: int, where: str
    ) -> Expression:
        arguments = self._arguments[call]
        flat = {n: self._flat(call, n, where) for n in arguments if options.flattens(n)}
        whole = {n: self._seen_from_inside(call, n) for n in arguments if n not in flat}
        if not options.split_ops:
            return _nested(function(component, **whole, **flat), where)
        try:
            keys = common_keys(where, flat)
        except BuildError as error:
            raise AssemblyError(str(error)) from None
        results = {}
        for key in keys:
            parts = {name: leaves[key if key in leaves else ""] for name, leaves in flat.items()}
            leading = (key,) if options.add_auto_key_as_first_param else ()
            results[key] = to_expression(function(component, *leading, **whole, **parts), where)
            check_returns(results[key], options.returns, where)
        if (options.returns or 1) == 1:
            return nest(results)
        outputs = range(options.returns)
        return Pack(
            tuple, tuple((i, nest({k: descend(e, (i,)) for k, e in results.items()})) for i in outputs)
        )

    def _flat(self, call: int, name: str, where: str) -> dict[str, Any]:
        """Flat key -> leaf of an argument, as the body of the method sees it."""
        literal = self._arguments[call][name]
        if isinstance(literal, Ref) and self._space(literal) is None:
            raise AssemblyError(
                f"{where} flattens its argument {name}, and whether that is a container is known at the build only: "
                "put flatten_ops on a graph function, pass a dict or tuple literal or an argument of the root, and "
                "assemble with input_spaces (as GraphExecutor does)"
            )
        return {
            "/".join(map(str, path)): leaf.value
            if isinstance(leaf, Const)
            else Symbol(Ref(Parameter(call, name), path))
            for path, leaf in _literal_leaves(literal)
        }

    def _literal(self, expression: Expression) -> Expression:
        """`expression` in which references to known containers are written out."""
        if isinstance(expression, Pack):
            return Pack(expression.kind, tuple((key, self._literal(e)) for key, e in expression.items))
        if isinstance(expression, Ref):
            source = expression.source
            try:
                if isinstance(source, Parameter):
                    return descend(self._arguments[source.call][source.name], expression.path)
                if isinstance(source, Result):
                    return self._literal(descend(self.calls[source.call].results, expression.path))
                if source in self._structures:
                    return descend(self._structures[source], expression.path)
            except KeyError:  # a missing part, which the build reports
                return expression
            space = self._space(expression)
            if isinstance(space, Dict | Tuple):
                parts = (Ref(source, (*expression.path, key)) for key in _keys(space))
                items = tuple((ref.path[-1], self._literal(ref)) for ref in parts)
                return Pack(dict if isinstance(space, Dict) else tuple, items)
        return expression

    def _space(self, ref: Ref) -> Space | None:
        """The Space of a part of an argument of the root, if it is known."""
        space = self.spaces.get(ref.source) if isinstance(ref.source, Input) else None
        for key in ref.path:
            if not isinstance(space, Dict | Tuple) or key not in _keys(space):
                return None
            space = space[key]  # type: ignore[index]
        return space

    def call_graph_function(
        self,
        component: Any,
        name: str,
        arguments: Mapping[str, Any],
        returns: int,
        host: bool,
        split: Sequence[str] = (),
    ) -> Any:
        """Record a call of a graph function; its body is not run before the build.

        Of known containers among the arguments `split` its outputs have the structure.
        """
        where = f"{component.scope_path}.{name}"
        if not self._stack or self._stack[-1][1] is not component:
            at = self._place if self._stack else "outside any API method"
            raise AssemblyError(
                f"graph function {where} is called from {at}: components talk through API methods only; "
                f"call an API method of {component.scope_path}"
            )
        node = self._new_id()
        expressions = tuple((key, to_expression(value, where)) for key, value in arguments.items())
        self._record(
            GraphFunctionCall(
                node, self._caller, component.scope_path, name, expressions, returns, host, int(self.shared)
            )
        )
        literals = [self._literal(e) for key, e in expressions if key in split]
        structure = next((literal for literal in literals if isinstance(literal, Pack)), None)
        refs = [Ref(Output(node, i)) for i in range(returns)]
        if structure is not None:
            self._structures |= {ref.source: _parts_like(structure, ref) for ref in refs}
        outputs = tuple(_seen(ref, self._literal(ref)) for ref in refs)
        return outputs[0] if returns == 1 else outputs

    def variables_of(self, component: Any, trainable_only: bool = False) -> Symbol:
        """Record that the list of the variables below `component` is needed."""
        self._check_composed(component, f"{component.scope_path}.variables()")
        node = self._new_id()
        self._record(VariablesOf(node, self._caller, component.scope_path, trainable_only))
        return Symbol(Ref(Output(node)))

    def joined_variables(self, *symbols: Any) -> Symbol | None:
        """Record that lists of variables are joined; None if `symbols` are something else."""
        scope = self.place("a.variables() + b.variables()")
        lists = tuple(to_expression(symbol, scope) for symbol in symbols)
        if not all(self._is_list(self._literal(expression)) for expression in lists):
            return None
        node = self._new_id()
        self._record(JoinedVariables(node, self._caller, scope, lists))
        return Symbol(Ref(Output(node)))

    def _is_list(self, expression: Expression) -> bool:
        source = expression.source if isinstance(expression, Ref) else None
        made = self.nodes.get(source.node) if isinstance(source, Output) else None
        return isinstance(made, VariablesOf | JoinedVariables)

    def gradients(self, loss: Any, variables: Any) -> Symbol:
        """Record the derivatives of `loss` by `variables`; in a group their sum, so that no caller can forget it."""
        scope = self.place("gradients(loss, variables)")
        node = self._new_id()
        self._record(
            Gradients(node, self._caller, scope, to_expression(loss, scope), to_expression(variables, scope))
        )
        found = Symbol(Ref(Output(node)))
        # By what it is divided is known once it is clear of which loss it is.
        return self.all_reduce(found, None) if self.in_group else found

    def all_reduce(self, value: Any, number: Any) -> Any:
        """Record a collective; what it returns has the structure of `value`."""
        scope = self.place("all_reduce(value)")
        node = self._new_id()
        expression = to_expression(value, scope)
        self._record(Collective(node, self._caller, scope, expression, to_expression(number, scope)))
        return _parts(Ref(Output(node)), self._literal(expression))


def _seen(ref: Ref, literal: Expression) -> Any:
    # A constant stays a plain value, so that configuration can be decided on in Python.
    if isinstance(literal, Const):
        return literal.value
    if isinstance(literal, Pack) and literal.kind is dict:
        parts = {key: _seen(Ref(ref.source, (*ref.path, key)), item) for key, item in literal.items}
        return KnownDict(ref, parts)
    return Symbol(ref)


def _parts(ref: Ref, literal: Expression) -> Any:
    """Symbols of the parts of `ref`, which has the structure of `literal`."""
    if not isinstance(literal, Pack):
        return Symbol(ref)
    items = {key: _parts(Ref(ref.source, (*ref.path, key)), item) for key, item in literal.items}
    return items if literal.kind is dict else tuple(items.values())


def _parts_like(literal: Expression, ref: Ref) -> Expression:
    """The parts of `ref`, which has the structure of `literal`."""
    if not isinstance(literal, Pack):
        return ref
    items = ((key, _parts_like(item, Ref(ref.source, (*ref.path, key)))) for key, item in literal.items)
    return Pack(literal.kind, tuple(items))


def _seen_from_outside(call: int, results: Expression, path: tuple[str | int, ...] = ()) -> Any:
    if isinstance(results, Pack):
        items = Parts({key: _seen_from_outside(call, item, (*path, key)) for key, item in results.items})
        return items if results.kind is dict else tuple(items.values())
    if isinstance(results, Const):
        return results.value
    return Symbol(Ref(Result(call), path))


def _keys(space: Dict | Tuple) -> list[Any]:
    return list(space) if isinstance(space, Dict) else list(range(len(space)))


def _literal_leaves(expression: Expression, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    if isinstance(expression, Pack):
        for key, item in expression.items:
            yield from _literal_leaves(item, (*path, key))
    else:
        yield path, expression


def _nested(value: Any, where: str) -> Expression:
    """What a method with flat arguments returns: a dict with flat keys is nested again."""
    if isinstance(value, Mapping) and is_flat(value):
        return nest({key: to_expression(item, where) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return Pack(tuple, tuple((i, _nested(item, where)) for i, item in enumerate(value)))
    return to_expression(value, where)


def check_returns(results: Expression, returns: int | None, where: str) -> None:
    """Check what an API method returned against its `returns=`.

    Raises:
        AssemblyError: it is another number of values.
    """
    if returns is None:
        return
    if isinstance(results, Pack) and results.kind is tuple:
        given = len(results.items)
    else:
        given = 0 if isinstance(results, Const) and results.value is None else 1
    if given != returns:
        raise AssemblyError(
            f"{where} declares returns={returns} and returns {given} value{'s' * (given != 1)}"
        )


def bind_arguments(
    signature: inspect.Signature, component: Any, args: tuple[Any, ...], kwargs: dict[str, Any], where: str
) -> dict[str, Any]:
    """The arguments of a call by parameter name, defaults filled in.

    Raises:
        AssemblyError: too few, too many or unknown arguments.
    """
    parameters = signature.parameters.values()
    plain = not kwargs and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    if plain and len(args) + 1 == len(parameters):
        # Nearly always so, and several times faster than finding out which argument is which.
        return dict(zip(list(signature.parameters)[1:], args, strict=True))
    try:
        bound = signature.bind(component, *args, **with_present_names(kwargs))
    except TypeError as error:
        shown = [p for p in signature.parameters if p != "self"]
        former = former_names(type(component))
        hints = [f". {offer(name, shown, former)}" for name in kwargs if name in former]
        raise AssemblyError(f"{where}({', '.join(shown)}): {error}{''.join(hints)}") from None
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
        NotAssembling: there is none.
    """
    trace = _current.get()
    if trace is None:
        raise NotAssembling(
            what,
            f"{what} can only be called while a component graph is assembled; "
            "to run it, build the component: ComponentTest(component, input_spaces) or GraphExecutor",
        )
    return trace


@contextmanager
def updating(updates: bool) -> Iterator[None]:
    """Whether what is called inside is one update of an algorithm: see `shared_calls`; for use in API methods."""
    trace = current_trace("updating()")
    before, trace.updates = trace.updates, updates
    try:
        yield
    finally:
        trace.updates = before


@contextmanager
def shared_calls(shared: bool) -> Iterator[None]:
    """Equal calls inside are one in an update, although they draw or write; for use in API methods.

    So log-probabilities, entropies and values of the same states, which an algorithm asks for one by one, come from one
    pass of a network: they share its dropout, and its running statistics change once.
    """
    trace = current_trace("shared_calls()")
    before, trace.shared = trace.shared, shared and trace.updates
    try:
        yield
    finally:
        trace.shared = before


def gradients(loss: Any, variables: Any) -> Symbol:
    """The derivatives of the scalar `loss` by each of `variables`; wiring, for use in API methods only.

    Args:
        loss: symbol of a float tensor without axes.
        variables: what ``component.variables()`` returned, or several of these joined by ``+``.

    Returns:
        A symbol of the list of derivatives, parallel to `variables`.
    """
    return current_trace("gradients(loss, variables)").gradients(loss, variables)


def all_reduce(value: Any, number: Any = None) -> Any:
    """The sum of `value` over all learners of the group; wiring, for use in API methods only.

    Without a group it is `value`, divided by nothing: ask `in_group`. A loss may be such a sum: its derivative is the
    sum of those of the learners. No other derivative goes back through a sum.

    Args:
        value: a float tensor of fixed size, or a dict or tuple of such. (What `gradients` returns is a sum already.)
        number: of how many items `value` is the sum, []: the result is the mean over the items of all learners, 0
            without items. A mean of the learners' means would be wrong where their numbers differ.

    Returns:
        The same structure.
    """
    trace = current_trace("all_reduce(value)")
    if trace.in_group:
        return trace.all_reduce(value, number)
    if number is not None:
        raise AssemblyError(
            "all_reduce(value, number) is for groups of learners: without one divide yourself"
        )
    return value


def in_group() -> bool:
    """Whether the graph that is assembled is for a group of learners; for use in API methods only."""
    return current_trace("in_group()").in_group
