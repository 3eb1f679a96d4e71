"""Activations in the specs of layers."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.functional.activations import ACTIVATIONS, activation


def check_activation(name: str | None, where: str) -> str | None:
    """`name`, or None for none and for ``"linear"``.

    Raises:
        SpecError: unknown activation.
    """
    if name is None or name == "linear":
        return None
    if name not in ACTIVATIONS:
        raise SpecError(
            f"unknown activation {name!r}. {nearest(str(name), [*ACTIVATIONS, 'linear'])}", path=where
        )
    return name


def apply_activation(ops: Any, name: str | None, x: Any) -> Any:
    """The activation `name` of `x`."""
    return x if name is None else activation(ops, name)(x)
