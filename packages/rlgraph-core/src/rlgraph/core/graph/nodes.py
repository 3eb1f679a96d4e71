"""The vocabulary of a component graph: values, and the nodes that make them. Plain immutable data.

A value is an `Expression`: a `Ref` to something that is produced, a `Const`, or a `Pack` (a dict, list or tuple
literal of expressions). Taking ``symbol[key]`` of a container is only a longer path in a `Ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rlgraph.core.errors import no_part

Path = tuple[str | int, ...]

#: Prefix of an input Space that is the Space of the variables of the component at the scope that follows.
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


@dataclass(frozen=True)
class Carried:
    """Source: the tuple of values that the loop `loop` carries, seen from inside its body."""

    loop: int


@dataclass(frozen=True)
class Index:
    """Source: the number of the iteration, from 0, seen from inside the body of the loop `loop`."""

    loop: int


@dataclass(frozen=True)
class Packed:
    """Source: tensors of one segment as one flat tensor, one after the other."""

    parts: tuple[Ref, ...]


Source = Input | Parameter | Result | Output | Carried | Index | Packed


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
            raise KeyError(no_part(key, items))
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

    `returns` is the declared number of outputs; `host` marks plain Python on NumPy arrays. Equal calls of one `update`
    (a number, 0: none) are one call, although they draw or write.
    """

    id: int
    caller: int | None
    component: str
    function: str
    arguments: tuple[tuple[str, Expression], ...]
    returns: int = 1
    host: bool = False
    update: int = 0


@dataclass(frozen=True)
class VariablesOf:
    """A node whose value is the list of all variables below `component`, or the trainable ones, by scoped name."""

    id: int
    caller: int | None
    component: str
    trainable_only: bool = False


@dataclass(frozen=True)
class JoinedVariables:
    """A node whose value is one list of all variables in `lists`, each of them once, by scoped name."""

    id: int
    caller: int | None
    component: str
    lists: tuple[Expression, ...]


@dataclass(frozen=True)
class Gradients:
    """A node whose value is the list of derivatives of the scalar `loss` by each of `variables`."""

    id: int
    caller: int | None
    component: str
    loss: Expression
    variables: Expression


@dataclass(frozen=True)
class Collective:
    """A node whose value is `value`, floats or a list of derivatives, added up over all learners of the group.

    Divided by `number`, which is added up, too; None: not divided.
    """

    id: int
    caller: int | None
    component: str
    value: Expression
    number: Expression


@dataclass(frozen=True)
class Region:
    """The inside of a loop or branch: nodes of its own, and what leaves it. It may refer to values outside."""

    nodes: tuple[Node, ...]
    results: Expression


@dataclass(frozen=True)
class Loop:
    """A node that repeats a region.

    Output 0 is the tuple of carried values, output 1 what was collected.

    Attributes:
        count: how often.
        carried: the tuple of values with which the first iteration starts.
        region: one iteration; its results are a tuple of the carried values as they leave it, what it collects, and
            whether the loop ends here (None where there is no such thing).
    """

    id: int
    caller: int | None
    component: str
    count: Expression
    carried: Expression
    region: Region

    @property
    def leaving(self) -> Expression:
        """The carried values after one iteration."""
        return descend(self.region.results, (0,))

    @property
    def collected(self) -> Expression | None:
        """What every iteration adds to the collection."""
        return _unless_none(descend(self.region.results, (1,)))

    @property
    def stop(self) -> Expression | None:
        """Whether this iteration is the last."""
        return _unless_none(descend(self.region.results, (2,)))

    @cached_property
    def captured(self) -> Pack:
        """The values of the surroundings that an iteration uses."""
        return _captured((self.region,), {Carried(self.id), Index(self.id)})


@dataclass(frozen=True)
class Branch:
    """A node that runs one of two regions; its output is what that one's results are."""

    id: int
    caller: int | None
    component: str
    predicate: Expression
    then: Region
    otherwise: Region

    @cached_property
    def captured(self) -> Pack:
        """The values of the surroundings that the regions use."""
        return _captured((self.then, self.otherwise), set())


Node = GraphFunctionCall | VariablesOf | JoinedVariables | Gradients | Collective | Loop | Branch


def arguments_of(node: Node) -> tuple[tuple[str, Expression], ...]:
    """The named operands of any node. What a region uses of its surroundings is an operand of its node."""
    if isinstance(node, GraphFunctionCall):
        return node.arguments
    if isinstance(node, JoinedVariables):
        return tuple((f"list_{position}", expression) for position, expression in enumerate(node.lists))
    if isinstance(node, Gradients):
        return (("loss", node.loss), ("variables", node.variables))
    if isinstance(node, Collective):
        return (("value", node.value), ("number", node.number))
    if isinstance(node, Loop):
        return (("count", node.count), ("carried", node.carried), ("captured", node.captured))
    if isinstance(node, Branch):
        return (("predicate", node.predicate), ("captured", node.captured))
    return ()


def outputs_of(node: Node) -> tuple[Output, ...]:
    """The sources that `node` is."""
    if isinstance(node, GraphFunctionCall):
        return tuple(Output(node.id, index) for index in range(node.returns))
    if isinstance(node, Loop) and node.collected is not None:
        return (Output(node.id, 0), Output(node.id, 1))
    return (Output(node.id),)


def regions_of(node: Node) -> tuple[Region, ...]:
    """The regions of a loop or branch; nothing for other nodes."""
    if isinstance(node, Loop):
        return (node.region,)
    return (node.then, node.otherwise) if isinstance(node, Branch) else ()


def with_regions(node: Node, change: Callable[[Region], Region]) -> Node:
    """`node` with each of its regions changed."""
    if isinstance(node, Loop):
        return replace(node, region=change(node.region))
    if isinstance(node, Branch):
        return replace(node, then=change(node.then), otherwise=change(node.otherwise))
    return node


def with_expressions(node: Node, change: Callable[[Expression], Expression]) -> Node:
    """`node` with every expression in it changed, those inside its regions too."""

    def region(old: Region) -> Region:
        return Region(tuple(with_expressions(inner, change) for inner in old.nodes), change(old.results))

    if isinstance(node, GraphFunctionCall):
        arguments = tuple((name, change(e)) for name, e in node.arguments)
        return node if arguments == node.arguments else replace(node, arguments=arguments)
    if isinstance(node, JoinedVariables):
        return replace(node, lists=tuple(change(e) for e in node.lists))
    if isinstance(node, Gradients):
        return replace(node, loss=change(node.loss), variables=change(node.variables))
    if isinstance(node, Collective):
        return replace(node, value=change(node.value), number=change(node.number))
    if isinstance(node, Loop):
        return replace(
            node, count=change(node.count), carried=change(node.carried), region=region(node.region)
        )
    if isinstance(node, Branch):
        sides = (region(node.then), region(node.otherwise))
        return replace(node, predicate=change(node.predicate), then=sides[0], otherwise=sides[1])
    return node


def walk_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """All `nodes` in order, each followed by those inside its regions."""
    for node in nodes:
        yield node
        for region in regions_of(node):
            yield from walk_nodes(region.nodes)


_KINDS = {
    VariablesOf: "variables",
    JoinedVariables: "joined_variables",
    Gradients: "gradients",
    Collective: "all_reduce",
    Loop: "loop",
    Branch: "branch",
}


def label(node: Node) -> str:
    """``scope.function``, for messages and drawings."""
    if isinstance(node, GraphFunctionCall):
        return f"{node.component}.{node.function}"
    return f"{node.component}.{_KINDS[type(node)]}"


def _unless_none(expression: Expression) -> Expression | None:
    return None if isinstance(expression, Const) and expression.value is None else expression


def _captured(regions: tuple[Region, ...], own: set[Source]) -> Pack:
    """What the regions refer to that neither they nor the loop itself make."""
    inner = [node for region in regions for node in region.nodes]
    made = own | {output for node in inner for output in outputs_of(node)}
    used = [ref for node in inner for _, e in arguments_of(node) for ref in references(e)]
    used.extend(ref for region in regions for ref in references(region.results))
    outside = dict.fromkeys(ref for ref in used if ref.source not in made)
    return Pack(tuple, tuple(enumerate(outside)))
