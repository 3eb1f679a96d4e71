"""The moves of an actor on a map: walking, turning and jumping.

Directions are 0 up, 1 right, 2 down, 3 left. Rows are counted downwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rlgraph.environments.worlds.grid_world_maps import GOAL, HOLE, WALL

UP, RIGHT, DOWN, LEFT = range(4)
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Per direction the step in column and row."""

ENDS = (HOLE, GOAL)


class Place(NamedTuple):
    """The field and the direction of an actor."""

    x: int
    y: int
    direction: int = UP


def walk(world: tuple[str, ...], place: Place, direction: int, fields: int = 1) -> Place:
    """The place `fields` further in a direction, or the same if the actor cannot stand there."""
    dx, dy = STEPS[direction]
    x, y = place.x + fields * dx, place.y + fields * dy
    if 0 <= x < len(world[0]) and 0 <= y < len(world) and world[y][x] != WALL:
        return place._replace(x=x, y=y)
    return place


def jump(world: tuple[str, ...], place: Place) -> Place:
    """Two fields ahead, over any field; one if the actor cannot land there; else the same place."""
    for fields in (2, 1):
        landed = walk(world, place, place.direction, fields)
        if landed != place:
            return landed
    return place


def turn_walk_jump(world: tuple[str, ...], place: Place, turn: int, forward: int, jumps: int) -> Place:
    """One action of "ftj": the turn first, then the step, then the jump.

    Args:
        turn: 0 left, 1 no turn, 2 right.
        forward: 0 backward, 1 no step, 2 forward.
        jumps: 0 no jump, 1 jump. An actor that walked into a hole or a goal does not jump out of it.
    """
    place = place._replace(direction=(place.direction + turn - 1) % 4)
    if forward != 1:
        place = walk(world, place, place.direction if forward == 2 else (place.direction + 2) % 4)
    if jumps and not (forward != 1 and world[place.y][place.x] in ENDS):
        place = jump(world, place)
    return place


def places(world: tuple[str, ...], directions: int) -> Iterator[Place]:
    """All places in the order of their numbers: columns, rows in a column, directions (1 or 4) in a field."""
    for x in range(len(world[0])):
        for y in range(len(world)):
            for direction in range(directions):
                yield Place(x, y, direction)
