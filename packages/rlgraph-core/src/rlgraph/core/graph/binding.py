"""Binding: a light view of a component whose variables are replaced by what a graph function computes with.

The component itself is never changed, so one component can be evaluated abstractly and be bound to several
backends at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.core.graph.variables import Slots, Variable


def bind(
    component: Any, handle: Callable[[Variable], Any], blocks: Callable[[Slots], Any], **extra: Any
) -> Any:
    """A view of `component` with every declared variable among its attributes replaced.

    Args:
        component: the component.
        handle: replaces a variable.
        blocks: replaces optimizer slots by a list of blocks.
        extra: further attributes of the view.
    """

    def replace(value: Any) -> Any:
        if isinstance(value, Variable):
            return handle(value)
        if isinstance(value, Slots):
            return blocks(value)
        if type(value) in (list, tuple, dict) and _holds_variables(value):
            if type(value) is dict:
                return {key: replace(item) for key, item in value.items()}
            return type(value)(map(replace, value))
        return value

    view = object.__new__(type(component))
    hidden = ("declared_variables", "sub_components")
    view.__dict__.update({k: v if k in hidden else replace(v) for k, v in vars(component).items()}, **extra)
    return view


def _holds_variables(value: Any) -> bool:
    """Whether a value is a variable, or a list, tuple or dict in which there is one."""
    if type(value) in (list, tuple, dict):
        return any(map(_holds_variables, value.values() if type(value) is dict else value))
    return isinstance(value, Variable | Slots)


def slots_of(component: Any) -> list[Slots]:
    """The optimizer slots among a component's attributes."""
    return [value for value in vars(component).values() if isinstance(value, Slots)]
