"""The reference entry of a component: its API methods, its functions from the literature, its papers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from rlgraph.core.specs.parameters import summary_of
from rlgraph.draw.papers import Paper, cited

_FUNCTIONAL = "rlgraph.core.functional"


def api_methods_of(kind: Any) -> list[Callable[..., Any]]:
    """The functions of the API methods of a class, in source order."""
    order = [name for owner in reversed(kind.__mro__) for name in vars(owner)]
    methods: dict[str, Any] = kind.api_methods()
    return [methods[name] for name in sorted(methods, key=order.index)]


def call_of(function: Callable[..., Any]) -> str:
    """The signature of a function without ``self`` and types: ``call(inputs, training=None)``."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    return f"{function.__name__}{signature.replace(parameters=bare, return_annotation=signature.empty)}"


def functional_of(kind: Any) -> list[FunctionType]:
    """The functions of `rlgraph.core.functional` that a component's module imports."""
    members = vars(importlib.import_module(kind.__module__)).values()
    return [m for m in members if isinstance(m, FunctionType) and m.__module__.startswith(_FUNCTIONAL)]


def papers_of(kind: Any, also: str | None = None) -> tuple[Paper, ...]:
    """The papers cited in the text `also`, by a component and by its functions from the literature, in this order."""
    functions = [*api_methods_of(kind), *functional_of(kind)]
    return cited(filter(None, [also, inspect.getdoc(kind), *(function.__doc__ for function in functions)]))


def summary_of_method(kind: type, name: str) -> str:
    """The first paragraph of a method's docstring, or of the one in a base class."""
    functions = [vars(owner)[name] for owner in kind.__mro__ if name in vars(owner)]
    return next(filter(None, map(summary_of, functions)), "")


def kernels_only(kind: Any) -> list[str]:
    """The backends to which kernel-only graph functions bind a component; empty if it runs on all."""
    bound = [set(function.kernels) for function in kind.graph_functions().values() if function.kernels_only]
    return sorted(set.intersection(*bound)) if bound else []
