"""Checks of the windows of convolution and pooling layers."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_choice, is_whole
from rlgraph.core import SpecError
from rlgraph.spaces import BoxSpace, SpaceError

PADDINGS = ("valid", "same")
_PADDED = "padding='same' pads them"


def check_pair(value: Any, where: str) -> tuple[int, int]:
    """`value`, one number for both or a pair, as (height, width).

    Raises:
        SpecError: neither, or a number below 1.
    """
    pair = value if isinstance(value, list | tuple) else (value, value)
    if len(pair) != 2 or not all(is_whole(n) and n >= 1 for n in pair):
        raise SpecError(f"expected an integer >= 1 or a pair of them, given {value!r}", path=where)
    return int(pair[0]), int(pair[1])


def check_padding(value: Any, where: str) -> str:
    """`value`.

    Raises:
        SpecError: it is not the name of a padding.
    """
    return str(check_choice(value, where, PADDINGS, "padding"))


def check_fits(space: BoxSpace, window: tuple[int, int], padding: str) -> None:
    """Raise `SpaceError` if a window does not fit into images ``[H, W, C]``."""
    if padding == "valid" and (space.shape[0] < window[0] or space.shape[1] < window[1]):
        channels_first = space.shape[0] <= 4 < min(space.shape[1:])
        help = "images are [H, W, C], and here C seems to come first" if channels_first else _PADDED
        raise SpaceError(f"a window of {window[0]} x {window[1]} does not fit into {space!r}; {help}")
