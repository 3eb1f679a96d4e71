"""Annotations of constructor arguments: those that take specs, and numbers with a lower bound.

Of a spec a type checker sees ``Any``: the specs that a constructor takes are checked by `from_spec` of what they
describe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias


@dataclass(frozen=True)
class SpecType:
    """The kind of spec that an argument takes.

    Attributes:
        words: for messages and the reference: ``"a number or a schedule"``.
        schema: the definition in the JSON Schema of a document; empty: any value.
    """

    words: str
    schema: str = ""


@dataclass(frozen=True)
class LowerBound:
    """The lower bound of a number.

    Attributes:
        value: the bound.
        is_inclusive: whether the number may be equal to it.
    """

    value: float
    is_inclusive: bool = True

    def __str__(self) -> str:
        return f" {'>=' if self.is_inclusive else '>'} {self.value:g}"

    def admits(self, number: Any) -> bool:
        """Whether a number is not too low."""
        return bool(number >= self.value if self.is_inclusive else number > self.value)


#: How many, at least one; how often, possibly never; how much, possibly nothing; how long.
Count: TypeAlias = Annotated[int, LowerBound(1)]
Times: TypeAlias = Annotated[int, LowerBound(0)]
Amount: TypeAlias = Annotated[float, LowerBound(0.0)]
Seconds: TypeAlias = Annotated[float, LowerBound(0.0, is_inclusive=False)]

SpaceSpec: TypeAlias = Annotated[Any, SpecType("a Space")]
ScheduleSpec: TypeAlias = Annotated[Any, SpecType("a number or a schedule", "schedule")]
InitializerSpec: TypeAlias = Annotated[Any, SpecType("an initializer")]
NetworkSpec: TypeAlias = Annotated[Any, SpecType("a network, its spec or a list of layers", "network")]
ComponentSpec: TypeAlias = Annotated[Any, SpecType("a component or its spec")]
#: A name, or ``f(ops, x)``; documents have names only.
ActivationSpec: TypeAlias = str | Callable[[Any, Any], Any] | None
NumbersSpec: TypeAlias = Annotated[Any, SpecType("a number or a list of numbers")]


def spec_type(annotation: Any) -> SpecType | None:
    """The `SpecType` of an annotation, if it has one."""
    return next((m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, SpecType)), None)


def lower_bounds(annotation: Any) -> list[LowerBound]:
    """The bounds of an annotation."""
    return [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, LowerBound)]
