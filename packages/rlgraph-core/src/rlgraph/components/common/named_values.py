"""Arguments by name: each is written once, in a graph function, and API methods take it from there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from rlgraph.core import rlgraph_api

F = TypeVar("F", bound=Callable[..., Any])
#: The leaves of a container by path, as graph functions with `flatten_ops` get them.
Parts: TypeAlias = Mapping[str, Any]


def by_name(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a graph function, such as ``self._loss``, with those of the values that it has arguments for."""
    return function(
        **{name: values[name] for name in inspect.signature(function).parameters if name in values}
    )


def arguments_of(
    member: Any, *, without: str = "", more: tuple[str, ...] = (), optional: bool = False
) -> Callable[[F], F]:
    """Declare that an API method, which takes ``**values``, has the arguments of another or of a graph function.

    Args:
        member: the API method or graph function.
        without: the name of an argument that the method lacks.
        more: names of further arguments, at the end, with the default None.
        optional: all have the default None.
    """
    component, *taken = (p for p in member.signature.parameters.values() if p.name not in ("ops", without))
    further = [component.replace(name=name, default=None, annotation=Any) for name in more]
    parameters = [p.replace(default=None) if optional else p for p in (*taken, *further)]

    def declare(function: F) -> F:
        function.__signature__ = inspect.Signature([component, *parameters])  # type: ignore[attr-defined]
        return function

    return declare


def api_of(name: str, function: Any, **options: Any) -> Any:
    """The API method `name` that returns what a graph function of the same class computes; it has its docstring.

    `options` are those of `rlgraph_api`.
    """

    def call(self: Any, **values: Any) -> Any:
        return getattr(self, function.name)(**values)

    call.__name__, call.__doc__ = name, function.__doc__
    return rlgraph_api(**options)(arguments_of(function)(call))
