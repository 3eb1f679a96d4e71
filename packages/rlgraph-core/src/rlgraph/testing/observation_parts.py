"""Tests of components that are given observations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rlgraph.components.common.observations import PARTS
from rlgraph.core import Component, rlgraph_api


class ObservationParts(Component):
    """A root whose API methods take the parts of observations as arguments of their own, and call a component.

    All parts of a Dict Space have the same ranks, those of observations have not: internal states have no time rank.

    Args:
        component: a policy, value function, exploration ...; its API methods without observations are left out.
        scope: the root's name.
    """

    def __init__(self, component: Component, scope: str = "parts"):
        self.component = component
        super().__init__(component, scope=scope)
        for name, method in component.api_methods().items():
            parameters = inspect.signature(method).parameters
            if "observations" in parameters and name not in component.switched_off_apis:
                others = [p for p in parameters.values() if p.name not in ("self", "observations")]
                self.add_member(rlgraph_api(name=name)(_wired(name, others)))


def _wired(name: str, others: list[inspect.Parameter]) -> Callable[..., Any]:
    """The method with the parts ahead of its other arguments; those without a default come first."""

    def wired(self: ObservationParts, **given: Any) -> Any:
        parts = {part: given.pop(part) for part in PARTS if part in given}
        observations = {part: value for part, value in parts.items() if value is not None}
        return getattr(self.component, name)(observations=observations or None, **given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("self", kind),
        inspect.Parameter("states", kind),
        *(inspect.Parameter(part, kind, default=None) for part in PARTS[1:]),
        *others,
    ]
    parameters.sort(key=lambda p: p.default is not p.empty)
    wired.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wired
