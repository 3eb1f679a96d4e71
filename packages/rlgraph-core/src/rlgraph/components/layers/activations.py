"""Activations by name."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import SpecError, nearest

#: Name in a spec -> operation of the contract.
ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "elu": "elu", "softplus": "softplus"}


def check_activation(name: str | None, where: str) -> str | None:
    """`name`, or None for none and for ``"linear"``.

    Raises:
        SpecError: there is no such activation.
    """
    if name is None or name == "linear":
        return None
    if name not in ACTIVATIONS:
        raise SpecError(
            f"{where}: unknown activation {name!r}. {nearest(str(name), [*ACTIVATIONS, 'linear'])}"
        )
    return name


def apply_activation(ops: Any, name: str | None, x: Any) -> Any:
    """The activation `name` of `x`, elementwise."""
    return x if name is None else getattr(ops, ACTIVATIONS[name])(x)
