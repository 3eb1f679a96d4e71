"""Annotations of constructor arguments that take specs: a description, and the name of the schema.

A type checker sees ``Any``: the specs that a constructor takes are checked by `from_spec` of what they describe.
"""

from __future__ import annotations

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


SpaceSpec: TypeAlias = Annotated[Any, SpecType("a Space")]
ScheduleSpec: TypeAlias = Annotated[Any, SpecType("a number or a schedule", "schedule")]
InitializerSpec: TypeAlias = Annotated[Any, SpecType("an initializer")]
NetworkSpec: TypeAlias = Annotated[Any, SpecType("a network, its spec or a list of layers", "network")]
ComponentSpec: TypeAlias = Annotated[Any, SpecType("a component or its spec")]
NumbersSpec: TypeAlias = Annotated[Any, SpecType("a number or a list of numbers")]


def spec_type(annotation: Any) -> SpecType | None:
    """The `SpecType` of an annotation, if it has one."""
    return next((m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, SpecType)), None)
