"""Checks and conversions of layers for images."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.spaces import BoxSpace, FloatBox, IntBox, SpaceError


def check_image(box: BoxSpace, where: str) -> tuple[int, int]:
    """Height and width of an image ``[H, W]`` or ``[H, W, C]``.

    Raises:
        SpaceError: it is not an image, or its values are neither integers nor floats.
    """
    if not isinstance(box, IntBox | FloatBox) or box.rank not in (2, 3):
        raise SpaceError(f"{where}: expected images [H, W] or [H, W, C] of numbers, given {box!r}")
    return box.shape[0], box.shape[1]


def in_dtype_of(ops: Any, box: BoxSpace, values: Any) -> Any:
    """Floats `values` in the dtype of `box`; rounded and limited to the range of an integer dtype."""
    if not isinstance(box, IntBox):
        return values
    info = np.iinfo(box.dtype)
    # Single precision cannot represent the largest 32- and 64-bit integers; the next float would overflow.
    return ops.astype(ops.clip(ops.round(values), info.min, info.max - (info.max >> 24)), box.dtype)
