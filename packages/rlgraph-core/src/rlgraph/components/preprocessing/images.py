"""What the layers for images share."""

from __future__ import annotations

from typing import Any

from rlgraph.spaces import BoxSpace, FloatBox, IntBox, SpaceError


def check_image(box: BoxSpace, where: str) -> tuple[int, int]:
    """Height and width of an image ``[H, W]`` or ``[H, W, C]``.

    Raises:
        SpaceError: it is none, or its values are neither integers nor floats.
    """
    if not isinstance(box, IntBox | FloatBox) or box.rank not in (2, 3):
        raise SpaceError(f"{where}: expected images [H, W] or [H, W, C] of numbers, given {box!r}")
    return box.shape[0], box.shape[1]


def in_dtype_of(ops: Any, box: BoxSpace, values: Any) -> Any:
    """Floats `values` in the dtype of `box`, rounded to the nearest integer where it holds integers."""
    return ops.astype(ops.round(values), box.dtype) if isinstance(box, IntBox) else values
