"""Wires between two layers: horizontal tracks in the channel between them, chosen so that few wires cross."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

TRACK = 9.0
MARGIN = 11.0
_NEAR = 5.0


@dataclass(frozen=True)
class Net:
    """All wires of one source in a channel, by the x positions of their ends above and below."""

    above: tuple[float, ...]
    below: tuple[float, ...]

    @property
    def span(self) -> tuple[float, float]:
        every = (*self.above, *self.below)
        return min(every), max(every)

    @property
    def is_straight(self) -> bool:
        low, high = self.span
        return high - low < 0.5


def assign_tracks(nets: Mapping[Hashable, Net]) -> dict[Hashable, int]:
    """A track for every net that needs one, 0 the uppermost. No two nets overlap on a track."""
    pending = {key: net for key, net in nets.items() if not net.is_straight}
    order: list[Hashable] = []
    while pending:
        keys = list(pending)
        costs = [sum(_cost(pending[key], pending[other]) for other in keys if other != key) for key in keys]
        order.append(keys[min(range(len(keys)), key=costs.__getitem__)])
        del pending[order[-1]]
    tracks: dict[Hashable, int] = {}
    for key in order:
        tracks[key] = 1 + max(
            (tracks[other] for other in tracks if _conflict(nets[key], nets[other])), default=-1
        )
    return tracks


def _cost(upper: Net, lower: Net) -> int:
    """Crossings with `upper` above `lower`, minus those of the opposite order; overlapping verticals count ten."""
    return _crossings(upper, lower) - _crossings(lower, upper)


def _crossings(upper: Net, lower: Net) -> int:
    (upper_low, upper_high), (lower_low, lower_high) = upper.span, lower.span
    count = sum(upper_low < x < upper_high for x in lower.above) + sum(
        lower_low < x < lower_high for x in upper.below
    )
    overlaps = sum(abs(x - y) < _NEAR for x in upper.below for y in lower.above)
    return count + 10 * overlaps


def _conflict(first: Net, second: Net) -> bool:
    (a_low, a_high), (b_low, b_high) = first.span, second.span
    return a_low - _NEAR < b_high and b_low - _NEAR < a_high


def channel_height(tracks: Mapping[Hashable, int]) -> float:
    """The height of a channel with these tracks."""
    used = 1 + max(tracks.values(), default=-1)
    return 2 * MARGIN + TRACK * max(used - 1, 0)


def simplify(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A polyline without repeated points and without points on a straight line."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.5 and abs(kept[-1][1] - point[1]) < 0.5:
            continue
        while len(kept) > 1 and _on_line(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _on_line(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return any(abs(a[i] - b[i]) < 0.5 and abs(b[i] - c[i]) < 0.5 for i in (0, 1))
