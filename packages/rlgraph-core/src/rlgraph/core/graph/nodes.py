"""The vocabulary of a component graph: values, and the nodes that make them. Plain immutable data.

A value is an `Expression`: a `Ref` to something that is produced, a `Const`, or a `Pack` (a dict, list or tuple
literal of expressions). Taking ``symbol[key]`` of a container is only a longer path in a `Ref`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]

#: An input Space that begins so (and goes on with a scope) is that of the variables of a component.
DEFERRED = "variables:"


@dataclass(frozen=True)
class Input:
    """Source: an argument of a root API method."""

    method: str
    name: str


@dataclass(frozen=True)
class Parameter:
    """Source: a parameter of the API call `call`, seen from inside."""

    call: int
    name: str


@dataclass(frozen=True)
class Result:
    """Source: what the API call `call` returns, seen from outside."""

    call: int


@dataclass(frozen=True)
class Output:
    """Source: output number `index` of the node `node`."""

    node: int
    index: int = 0


Source = Input | Parameter | Result | Output


@dataclass(frozen=True)
class Ref:
    """The value a source produces, or the part of it at `path`."""

    source: Source
    path: Path = ()


@dataclass(frozen=True, eq=False)
class Const:
    """A value that is known when the graph is assembled; compared by identity of the value."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class Pack:
    """A container literal: `items` maps keys (or positions) to expressions."""

    kind: type
    items: tuple[tuple[str | int, Expression], ...]

    def at(self, key: str | int) -> Expression:
        """The expression under `key`.

        Raises:
            KeyError: there is none; lists the keys there are.
        """
        items = dict(self.items)
        if key not in items:
            raise KeyError(f"{key!r}: there are {list(items)}")
        return items[key]


Expression = Ref | Const | Pack


def references(expression: Expression) -> Iterator[Ref]:
    """All `Ref`s inside `expression`, in order."""
    if isinstance(expression, Ref):
        yield expression
    elif isinstance(expression, Pack):
        for _, item in expression.items:
            yield from references(item)


def descend(expression: Expression, path: Path) -> Expression:
    """The part of `expression` at `path`."""
    for position, key in enumerate(path):
        if isinstance(expression, Ref):
            return Ref(expression.source, expression.path + path[position:])
        if isinstance(expression, Const):
            return Const(_constant_part(expression.value, path[position:]))
        expression = expression.at(key)
    return expression


def _constant_part(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


@dataclass(frozen=True)
class ApiCall:
    """An edge between components: one call of an API method.

    Attributes:
        id: position in program order, unique in the graph.
        caller: id of the API call in whose body this one stands; None for calls of the root.
        component: scope of the called component.
        method: name of the API method.
        arguments: parameter name -> expression in the caller's terms.
        results: the returned expression in the callee's terms.
    """

    id: int
    caller: int | None
    component: str
    method: str
    arguments: tuple[tuple[str, Expression], ...]
    results: Expression


@dataclass(frozen=True)
class GraphFunctionCall:
    """A node that computes: one call of a graph function.

    `returns` is the declared number of outputs; `host` marks plain Python on NumPy arrays.
    """

    id: int
    caller: int | None
    component: str
    function: str
    arguments: tuple[tuple[str, Expression], ...]
    returns: int = 1
    host: bool = False


@dataclass(frozen=True)
class VariablesOf:
    """A node whose value is the list of all variables below `component`, sorted by scoped name."""

    id: int
    caller: int | None
    component: str


@dataclass(frozen=True)
class Gradients:
    """A node whose value is the list of derivatives of the scalar `loss` by each of `variables`."""

    id: int
    caller: int | None
    component: str
    loss: Expression
    variables: Expression


Node = GraphFunctionCall | VariablesOf | Gradients


def arguments_of(node: Node) -> tuple[tuple[str, Expression], ...]:
    """The named operands of any node."""
    if isinstance(node, GraphFunctionCall):
        return node.arguments
    if isinstance(node, Gradients):
        return (("loss", node.loss), ("variables", node.variables))
    return ()


def label(node: Node) -> str:
    """``scope.function``, for messages and drawings."""
    if isinstance(node, GraphFunctionCall):
        return f"{node.component}.{node.function}"
    if isinstance(node, VariablesOf):
        return f"{node.component}.variables"
    return f"{node.component}.gradients"
