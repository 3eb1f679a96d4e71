"""The contract between components and backends: every operation a graph function may use, as data.

An operation is declared once, by its **rule**: a function over `TensorSpec`s whose signature and docstring are those
of the operation. The names follow the Python array API standard. A backend offers an
`ops` namespace with these names; the abstract evaluation of a build runs the rules instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rlgraph.core.ops.dims import SymbolicDim

#: The version of the contract. A backend declares the one it was written for.
CONTRACT_VERSION = "0.2"

#: The dtypes of tensors; ``"float"`` in an operation means the execution's floating dtype.
DTYPES = ("float16", "float32", "float64", "uint8", "int16", "int32", "int64", "bool")

#: Placeholder for a size that depends on values; each evaluation replaces it with a new symbol.
DATA_DEPENDENT = SymbolicDim.symbol("?")


@dataclass(frozen=True)
class Operation:
    """One operation of the contract.

    Attributes:
        name: its name in the `ops` namespace.
        family: elementwise, reduction, contraction, gather, sorting, shaping, creation, nn, convolution, recurrence,
            state, random or control.
        rule: maps the `TensorSpec`s of the arguments to that of the result, or to a tuple of them for several results.
        view: the result may share memory with the first argument.
        differentiable: float results are differentiable with respect to the float arguments.
        sized_by: name of the tensor whose values determine the size that the rule returns as `DATA_DEPENDENT`.
    """

    name: str
    family: str
    rule: Callable[..., Any]
    view: bool = False
    differentiable: bool = True
    sized_by: str | None = None

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.rule)

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.rule) or ""


#: All operations by name.
OPERATIONS: dict[str, Operation] = {}


def operation(
    family: str, *, view: bool = False, differentiable: bool = True, sized_by: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated rule as an operation; a trailing underscore in its name (``max_``) is dropped."""

    def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
        name = rule.__name__.rstrip("_")
        OPERATIONS[name] = Operation(name, family, rule, view, differentiable, sized_by)
        return rule

    return declare
