"""Small components to look at a backend with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from rlgraph.core import Component, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class Probe(Component):
    """A component with the given variables; its API methods come from `probe`.

    Args:
        variables: name -> (Space, initializer).
        scope: its scope.
    """

    def __init__(self, variables: Mapping[str, tuple[Any, Any]], scope: str):
        self.wanted = dict(variables)
        super().__init__(scope=scope)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for name, (space, initializer) in self.wanted.items():
            setattr(self, name, self.get_variable(name, space, initializer=initializer))


def probe(
    *functions: Callable[..., Any],
    variables: Mapping[str, tuple[Any, Any]] | None = None,
    scope: str = "probe",
) -> Component:
    """A component with an API method per function ``f(self, ops, *tensors)``, each a graph function with one output.

    Args:
        functions: the graph functions; the API methods are called like them.
        variables: name -> (Space, initializer); attributes of ``self``.
        scope: its scope.
    """
    members: dict[str, Any] = {}
    for function in functions:
        name = function.__name__
        members[f"_{name}"] = graph_fn(function)
        names = list(inspect.signature(function).parameters)[2:]
        members[name] = wiring(names, _caller(f"_{name}"))
    return type("Probe", (Probe,), members)(variables or {}, scope)


def _caller(name: str) -> Callable[..., Any]:
    return lambda self, **tensors: getattr(self, name)(**tensors)


def wiring(names: list[str], body: Callable[..., Any]) -> Any:
    """An API method with these parameters; `body` gets them by name."""

    def method(self: Any, **symbols: Any) -> Any:
        return body(self, **symbols)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in ("self", *names)]
    )
    return rlgraph_api(method)


def flat_gradients(
    loss: Callable[..., Any], weights: list[Any], starts: list[Any], names: list[str], scope: str = "probe"
) -> Component:
    """A component with API methods ``loss(*names)`` and ``derivatives(*names)``.

    Args:
        loss: ``f(ops, weights, tensors)``; takes the variables and the method's arguments as lists.
        weights: Spaces of the variables.
        starts: their initializers.
        names: names of the arguments.
        scope: its scope.
    """
    keys = [f"w{number:03}" for number in range(len(weights))]  # their order is that of the names

    def _loss(self: Any, ops: Any, tensors: Any) -> Any:
        return loss(ops, [getattr(self, key) for key in keys], tensors)

    def _flat(self: Any, ops: Any, derivatives: Any) -> Any:
        return ops.concat(list(derivatives))

    def derive(self: Any, **tensors: Any) -> Any:
        return self._flat(gradients(self._loss(tuple(tensors.values())), self.variables()))

    members = {
        "_loss": graph_fn(_loss),
        "_flat": graph_fn(_flat),
        "loss": wiring(names, lambda self, **tensors: self._loss(tuple(tensors.values()))),
        "derivatives": wiring(names, derive),
    }
    return type("FlatGradients", (Probe,), members)(
        dict(zip(keys, zip(weights, starts, strict=True), strict=True)), scope
    )
