"""Checks of the axes of a distribution's arguments."""

from __future__ import annotations

from typing import Any

from rlgraph.core.ops import SymbolicTensor
from rlgraph.spaces import SpaceError


def check_axes(name: str, wanted: tuple[Any, ...], given: Any, ranks: int) -> None:
    """Raise `SpaceError` unless the tensor `given` has the shape `wanted`; when a graph is built.

    Args:
        name: name of the argument.
        wanted: a shape ``[B, ...]`` or ``[T, B, ...]``.
        given: the argument.
        ranks: number of leading axes that are ranks, whose sizes are not compared.
    """
    if not isinstance(given, SymbolicTensor):  # known at build, or already running
        return
    shape = given.spec.shape
    if len(shape) != len(wanted) or shape[ranks:] != wanted[ranks:]:
        raise SpaceError(
            f"{name}: expected the shape {_shown(wanted)}, defined by the parameters, given {_shown(shape)}; another "
            "one would silently broadcast over all pairs of elements"
        )


def _shown(shape: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"
