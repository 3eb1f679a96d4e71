"""Pictures of environments: lines and fields on an array of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

Colour: TypeAlias = tuple[int, int, int]
WHITE, BLACK, BROWN, BLUE, GREEN = (255, 255, 255), (20, 20, 20), (200, 140, 90), (70, 90, 200), (60, 160, 90)


def blank(height: int, width: int) -> np.ndarray:
    """A white picture ``[height, width, 3]``."""
    return np.full((height, width, 3), WHITE, np.uint8)


def draw_line(
    picture: np.ndarray, start: Sequence[float], end: Sequence[float], width: float, colour: Colour
) -> None:
    """A line with round ends between two points, each (row, column)."""
    places = np.moveaxis(np.indices(picture.shape[:2]), 0, -1).astype(float)
    first, along = np.asarray(start, float), np.subtract(end, start).astype(float)
    share = np.clip((places - first) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    distance = np.linalg.norm(places - first - share[..., None] * along, axis=-1)
    picture[distance <= width / 2] = colour


def fields(colours: np.ndarray, size: int) -> np.ndarray:
    """A picture of colours ``[rows, columns, 3]``, each a square of `size` pixels."""
    return colours.astype(np.uint8).repeat(size, axis=0).repeat(size, axis=1)
