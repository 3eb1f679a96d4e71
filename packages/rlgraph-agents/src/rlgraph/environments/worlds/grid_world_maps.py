"""The built-in maps of GridWorld. A row of a map is a string; every character is one field.

`S` start, `G` goal, `H` hole, `F` fire, `W` wall, a blank is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rlgraph.core.errors import SpecError, nearest

START, GOAL, HOLE, FIRE, WALL, FREE = "SGHFW "

MAPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # One goal after a fire; RLgraph 0.5 had a second goal and could not build this map.
        "chain": ("     S  F G",),
        "long-chain": (33 * FREE + START + 33 * FREE + GOAL,),
        "2x2": (
            "SH",
            " G",
        ),
        # The lakes of Gymnasium's FrozenLake.
        "4x4": (
            "S   ",
            " H H",
            "   H",
            "H  G",
        ),
        "8x8": (
            "S       ",
            "        ",
            "   H    ",
            "     H  ",
            "   H    ",
            " HH   H ",
            " H  H H ",
            "   H   G",
        ),
        "8x16": (
            "S      H        ",
            "   H       HH   ",
            "    FF   WWWWWWW",
            "  H      W      ",
            "    FF   W  H   ",
            "         W      ",
            "    FF   W      ",
            "  H          H G",
        ),
        "16x16": (
            "S      H        ",
            "           HH   ",
            "    FF   W     W",
            "         W      ",
            "WWW FF      H   ",
            "         W      ",
            " FFFF    W      ",
            "  H          H  ",
            "       H        ",
            "   H       HH   ",
            "WWWW     WWWWWWW",
            "  H      W    W ",
            "    FF   W  H W ",
            "WWWW    WW    W ",
            "    FF   W      ",
            "  H          H G",
        ),
        # The rooms of Sutton, Precup and Singh (1999), "Between MDPs and semi-MDPs", without the outer wall. RLgraph
        # 0.5 added a hole and a fire.
        "4-room": (
            "     W     ",
            "     W     ",
            "        G  ",
            "     W     ",
            "     W     ",
            "W WWWW     ",
            "     WWW WW",
            "     W     ",
            "  S  W     ",
            "           ",
            "     W     ",
        ),
    }
)


def read_map(world: str | Sequence[str]) -> tuple[str, ...]:
    """The rows of a built-in map given by name, or of a map given as rows; both checked.

    Raises:
        SpecError: unknown name, rows of different lengths, unknown character, not exactly one start, or no goal.
    """
    if isinstance(world, str):
        if world not in MAPS:
            raise SpecError(
                f"GridWorld has no map {world!r}. {nearest(world, MAPS)} Or give the rows of your own map."
            )
        return MAPS[world]
    rows = tuple(world)
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise SpecError(f"the rows of a GridWorld map must be equally long and not empty, got {list(rows)}.")
    fields = "".join(rows)
    unknown = sorted(set(fields) - {START, GOAL, HOLE, FIRE, WALL, FREE})
    if unknown:
        raise SpecError(f"a GridWorld map is made of 'S', 'G', 'H', 'F', 'W' and blanks, got {unknown}.")
    if fields.count(START) != 1 or GOAL not in fields:
        raise SpecError(
            f"a GridWorld map needs exactly one start 'S' and at least one goal 'G', "
            f"got {fields.count(START)} and {fields.count(GOAL)}."
        )
    return rows
