"""Renders grid worlds as text, as pictures, and as the camera states of an agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.environments.worlds.grid_world_maps import FIRE, FREE, GOAL, HOLE, START, WALL
from rlgraph.environments.worlds.grid_world_moves import STEPS, Place

PIXELS = 32
"""Side of a field in a picture."""

_COLOURS = {
    FREE: (244, 244, 240),
    START: (214, 228, 240),
    GOAL: (88, 166, 92),
    HOLE: (40, 40, 46),
    FIRE: (226, 106, 44),
    WALL: (138, 132, 126),
}
_RIM, _ACTOR, _EYE = (205, 205, 200), (38, 92, 170), (255, 255, 255)


def as_text(world: tuple[str, ...], place: Place | None, turns: bool) -> str:
    """The map as lines with the actor as `X`, or as `^`, `>`, `v`, `<` if it turns."""
    lines = [list(row) for row in world]
    if place is not None:
        lines[place.y][place.x] = "^>v<"[place.direction] if turns else "X"
    return "\n".join("".join(line) for line in lines)


def as_picture(world: tuple[str, ...], place: Place | None, turns: bool) -> np.ndarray[Any, Any]:
    """The map as `[rows * 32, columns * 32, 3]` uint8 with the actor as a disc whose eye shows its direction."""
    fields = np.array([[_COLOURS[field] for field in row] for row in world], np.uint8)
    picture = fields.repeat(PIXELS, 0).repeat(PIXELS, 1)
    picture[::PIXELS], picture[:, ::PIXELS] = _RIM, _RIM
    if place is not None:
        at = (
            slice(place.y * PIXELS, (place.y + 1) * PIXELS),
            slice(place.x * PIXELS, (place.x + 1) * PIXELS),
        )
        picture[at][_disc(0.0, 0.0, 0.36)] = _ACTOR
        if turns:
            dx, dy = STEPS[place.direction]
            picture[at][_disc(0.2 * dx, 0.2 * dy, 0.1)] = _EYE
    return picture


def _disc(x: float, y: float, radius: float) -> np.ndarray[Any, Any]:
    """A mask `[32, 32]`; in units of a field's side, from its middle."""
    axis = (np.arange(PIXELS) + 0.5) / PIXELS - 0.5
    mask: np.ndarray[Any, Any] = (axis[None, :] - x) ** 2 + (axis[:, None] - y) ** 2 <= radius**2
    return mask


def as_camera(world: tuple[str, ...], place: Place) -> np.ndarray[Any, Any]:
    """The camera state, `[rows, columns, 3]` uint8, one pixel per field.

    Channel 0: walls 127, goals 255. Channel 1: fires 127, holes 255. Channel 2: the actor 255.
    """
    channels: tuple[dict[str, int], ...] = ({WALL: 127, GOAL: 255}, {FIRE: 127, HOLE: 255}, {})
    image = np.array(
        [[[values.get(field, 0) for values in channels] for field in row] for row in world], np.uint8
    )
    image[place.y, place.x, 2] = 255
    return image
