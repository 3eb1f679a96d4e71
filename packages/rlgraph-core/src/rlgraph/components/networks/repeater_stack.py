"""Copies of one component in sequence."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.networks.stack import Stack
from rlgraph.core import Component
from rlgraph.core.specs.spec_types import ComponentSpec


class RepeaterStack(Stack):
    """Calls a component and copies of it in sequence, each with its own variables.

    Args:
        sub_component: the component, or its spec; its output has the Space of its input.
        repeats: number of components.
        api_methods: see `Stack`.

    Raises:
        SpecError: `repeats` below 1; and as `Stack`.
    """

    def __init__(
        self,
        sub_component: ComponentSpec,
        repeats: int = 2,
        api_methods: Collection[Any] = ("call",),
        scope: str = "repeater",
        **kwargs: Any,
    ):
        repeats = check_whole(repeats, f"{scope}.repeats", least=1, most=MAX_PARTS)
        component = Component.from_spec(sub_component, path=f"{scope}.sub_component")
        copies = [component.copy(scope=f"{component.scope}-{i}") for i in range(repeats)]
        super().__init__(*copies, api_methods=api_methods, scope=scope, **kwargs)
