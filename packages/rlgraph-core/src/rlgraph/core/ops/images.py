"""Padding and resizing of images, shared by all backends."""

from __future__ import annotations

from functools import cache

import numpy as np

#: One number for both height and width, or one for each.
Pair = int | tuple[int, int]


def as_pair(value: Pair) -> tuple[int, int]:
    """The numbers for height and width."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """The numbers of elements that ``padding="same"`` adds before and after."""
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def paddings(
    sizes: tuple[int, int], window: tuple[int, int], strides: tuple[int, int], padding: str
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The elements added above and below, left and right."""
    if padding == "valid":
        return (0, 0), (0, 0)
    vertical, horizontal = map(same_padding, sizes, window, strides)
    return vertical, horizontal


@cache
def resize_weights(method: str, old: int, new: int) -> np.ndarray:
    """``[new, old]``: the share of each old pixel of a row in each new one (see ``ops.resize``)."""
    rows = np.arange(new)
    if method == "nearest":
        return np.eye(old)[(2 * rows + 1) * old // (2 * new)]
    scale = old / new
    if method == "area":
        starts, pixels = rows[:, None] * scale, np.arange(old)
        covered = np.minimum(starts + scale, pixels + 1) - np.maximum(starts, pixels)
        return np.maximum(covered, 0.0) / scale
    centres = np.clip((rows + 0.5) * scale - 0.5, 0, old - 1)
    below = np.floor(centres).astype(int)
    share = (centres - below)[:, None]
    return (1 - share) * np.eye(old)[below] + share * np.eye(old)[np.minimum(below + 1, old - 1)]
