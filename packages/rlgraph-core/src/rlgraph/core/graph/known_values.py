"""What a build knows so far of the values in a graph."""

from __future__ import annotations

from collections.abc import Mapping

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.nodes import Const, Expression, Pack, Source
from rlgraph.core.graph.values import Value, part_at


class _Unknown:
    pass


#: The value of an expression of which not all is known.
UNKNOWN = _Unknown()


def value_of(expression: Expression, values: Mapping[Source, Value]) -> Value:
    """What is known of `expression`, or `UNKNOWN`.

    Raises:
        KeyError: it is a part that is not there.
    """
    if isinstance(expression, Const):
        return expression.value
    if isinstance(expression, Pack):
        items = {key: value_of(item, values) for key, item in expression.items}
        if any(item is UNKNOWN for item in items.values()):
            return UNKNOWN
        return items if expression.kind is dict else tuple(items.values())
    value = values.get(expression.source, UNKNOWN)
    return value if value is UNKNOWN else part_at(value, expression.path)


def known(
    where: str, expressions: Mapping[str, Expression], values: Mapping[Source, Value]
) -> dict[str, Value]:
    """What is known of the operands of `where`.

    Raises:
        BuildError: one of them is a part that is not there.
    """
    try:
        return {name: value_of(e, values) for name, e in expressions.items()}
    except KeyError as error:
        raise BuildError(f"{where}: {error.args[0]}") from None
