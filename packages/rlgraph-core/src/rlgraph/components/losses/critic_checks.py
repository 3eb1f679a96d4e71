"""Checks of the values of several critics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.spaces import BoxSpace, SpaceError, Tuple


def check_number_of_critics(number: Any, where: str) -> int:
    """Return `number`, or raise `SpecError` if it is below 1."""
    return check_whole(number, f"{where}.num_q_functions", least=1, most=MAX_PARTS)


def check_critics(input_spaces: Mapping[str, Any], name: str, number: int, axes: int) -> None:
    """Raise `SpaceError` unless the argument `name`, if it is given, is a tuple with the values of `number` critics.

    Args:
        input_spaces: by argument.
        name: the argument.
        number: the number of critics.
        axes: the number of axes of the values of each, 1 for [B] and 2 for [B, A].
    """
    space = input_spaces.get(name)
    if space is None:
        return
    shape = "[B]" if axes == 1 else "[B, A]"
    if not isinstance(space, Tuple) or len(space) != number:
        raise SpaceError(
            f"{name}: expected a tuple with the values of {number} critics, {shape} each, given {space!r}; "
            "num_q_functions sets the number of critics"
        )
    for index, values in enumerate(space):
        if not isinstance(values, BoxSpace) or len(values.get_shape(True, True)) != axes:
            raise SpaceError(f"{name}[{index}]: expected {shape}, given {values!r}{_help(values, axes)}")


def _help(values: Any, axes: int) -> str:
    if axes == 1 and isinstance(values, BoxSpace) and values.shape == (1,):
        return "; ops.squeeze(x, axis=-1) removes the last axis"
    return ""
