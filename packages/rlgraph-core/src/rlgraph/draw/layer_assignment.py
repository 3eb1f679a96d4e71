"""Layered placement of the contents of one container (Sugiyama, Tagawa and Toda, 1981), top to bottom.

Layers follow the longest path, the order within a layer follows barycentres, and positions follow repeated
order-preserving least squares. A wire that spans several layers gets a narrow slot in each layer between, so that no
wire crosses a box.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

GAP = 18.0
LANE = 14.0
_SWEEPS = 16
_SMALL_BEND = 24.0


@dataclass(eq=False)
class Slot:
    """A place in a layer.

    Attributes:
        key: the element; None for a passing wire.
        width, height: size including labels.
        left: position, found by `arrange`.
        layer: number of the layer.
    """

    key: Hashable
    width: float
    height: float
    layer: int = 0
    left: float = 0.0


@dataclass(eq=False)
class Link:
    """A segment of a wire from the bottom of a slot to the top of a slot in the next layer, at these offsets."""

    net: Hashable
    upper: Slot
    upper_offset: float
    lower: Slot
    lower_offset: float

    @property
    def upper_x(self) -> float:
        return self.upper.left + self.upper_offset

    @property
    def lower_x(self) -> float:
        return self.lower.left + self.lower_offset


@dataclass
class Layers:
    """The slots by layer, and the links between successive layers."""

    slots: list[list[Slot]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


def back_edges(
    order: Sequence[Hashable], edges: Iterable[tuple[Hashable, Hashable]]
) -> set[tuple[Hashable, Hashable]]:
    """The edges that close a cycle in a depth-first walk that starts in `order`."""
    following: dict[Hashable, list[Hashable]] = {key: [] for key in order}
    for source, target in edges:
        following[source].append(target)
    found: set[tuple[Hashable, Hashable]] = set()
    state: dict[Hashable, int] = {}

    def visit(key: Hashable) -> None:
        state[key] = 1
        for other in following[key]:
            if state.get(other) == 1:
                found.add((key, other))
            elif other not in state:
                visit(other)
        state[key] = 2

    for key in order:
        if key not in state:
            visit(key)
    return found


def assign_layers(
    order: Sequence[Hashable],
    edges: Iterable[tuple[Hashable, Hashable]],
    top: set[Hashable],
    bottom: set[Hashable],
) -> dict[Hashable, int]:
    """A layer for every key, such that all edges lead downwards. The edges must be acyclic.

    Args:
        order: all keys.
        edges: pairs (upper, lower).
        top: keys of layer 0; all others lie below.
        bottom: keys of the last layer.
    """
    edges = list(edges)
    layer = {key: 0 if key in top else 1 for key in order}
    for _ in order:
        for upper, lower in edges:
            layer[lower] = max(layer[lower], layer[upper] + 1)
    has_upper = {lower for _, lower in edges}
    for key in order:
        below = [layer[lower] for upper, lower in edges if upper == key and lower not in bottom]
        if key not in top and key not in has_upper and below:
            layer[key] = min(below) - 1
    if bottom:
        last = 1 + max((layer[key] for key in order if key not in bottom), default=0)
        layer.update(dict.fromkeys(bottom, last))
    return layer


def arrange(layers: Layers) -> None:
    """Order every layer and find `left` of every slot; the smallest is 0."""
    _order(layers)
    _position(layers)
    leftmost = min((slot.left for row in layers.slots for slot in row), default=0.0)
    for row in layers.slots:
        for slot in row:
            slot.left -= leftmost


# Order.


def _order(layers: Layers) -> None:
    best, fewest = [list(row) for row in layers.slots], _crossings(layers)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for number in range(len(layers.slots)) if downwards else reversed(range(len(layers.slots))):
            _sort_row(layers, number, downwards)
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(row) for row in layers.slots], crossings
    layers.slots = best


def _ranks(layers: Layers) -> dict[Slot, float]:
    return {slot: float(i) for row in layers.slots for i, slot in enumerate(row)}


def _sort_row(layers: Layers, number: int, downwards: bool) -> None:
    ranks = _ranks(layers)
    pulls: dict[Slot, list[float]] = {}
    for link in layers.links:
        if downwards:
            pulls.setdefault(link.lower, []).append(
                ranks[link.upper] + link.upper_offset / (link.upper.width + 1)
            )
        else:
            pulls.setdefault(link.upper, []).append(
                ranks[link.lower] + link.lower_offset / (link.lower.width + 1)
            )

    def weight(slot: Slot) -> float:
        pull = pulls.get(slot)
        return sum(pull) / len(pull) if pull else ranks[slot]

    layers.slots[number].sort(key=weight)


def _crossings(layers: Layers) -> int:
    ranks = _ranks(layers)
    by_layer: dict[int, set[tuple[float, float]]] = {}
    for link in layers.links:
        upper = ranks[link.upper] + link.upper_offset / (link.upper.width + 1)
        lower = ranks[link.lower] + link.lower_offset / (link.lower.width + 1)
        by_layer.setdefault(link.upper.layer, set()).add((upper, lower))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0 for pairs in by_layer.values() for a, b in combinations(pairs, 2)
    )


# Position.


def _position(layers: Layers) -> None:
    for row in layers.slots:
        x = 0.0
        for slot in row:
            slot.left, x = x, x + slot.width + GAP
    above: dict[Slot, list[Link]] = {}
    below: dict[Slot, list[Link]] = {}
    for link in layers.links:
        above.setdefault(link.lower, []).append(link)
        below.setdefault(link.upper, []).append(link)
    for sweep in range(_SWEEPS):
        rows = layers.slots if sweep % 2 == 0 else layers.slots[::-1]
        last = sweep >= _SWEEPS - 4
        for row in rows:
            _place_row(row, above if last or sweep % 2 == 0 else {}, below if last or sweep % 2 else {})
    for row in [*layers.slots, *layers.slots[::-1], *layers.slots]:
        for before, slot, after in zip([None, *row], row, [*row[1:], None], strict=False):
            _straighten(slot, before, after, above.get(slot, []), below.get(slot, []))


def _place_row(
    row: Sequence[Slot], above: Mapping[Slot, list[Link]], below: Mapping[Slot, list[Link]]
) -> None:
    """Move every slot towards the position its links pull it to, keeping order and widths."""
    wanted, weights, offset, offsets = [], [], 0.0, []
    for slot in row:
        pulls = [(link.upper_x - link.lower_offset, _stiffness(link)) for link in above.get(slot, ())]
        pulls += [(link.lower_x - link.upper_offset, _stiffness(link)) for link in below.get(slot, ())]
        total = sum(weight for _, weight in pulls)
        wanted.append((sum(x * weight for x, weight in pulls) / total if pulls else slot.left) - offset)
        weights.append(total or 0.01)
        offsets.append(offset)
        offset += slot.width + GAP
    for slot, x, start in zip(row, increasing(wanted, weights), offsets, strict=True):
        slot.left = x + start


def _straighten(
    slot: Slot, before: Slot | None, after: Slot | None, above: Sequence[Link], below: Sequence[Link]
) -> None:
    """Move a slot slightly if that straightens more of its links; in doubt those above it."""
    bends = [(link.upper_x - link.lower_x, 1.1) for link in above]
    bends += [(link.lower_x - link.upper_x, 1.0) for link in below]
    least = (
        -_SMALL_BEND
        if before is None
        else max(before.left + before.width + GAP / 2 - slot.left, -_SMALL_BEND)
    )
    most = _SMALL_BEND if after is None else min(after.left - GAP / 2 - slot.width - slot.left, _SMALL_BEND)
    moves = [0.0, *(bend for bend, _ in bends if least <= bend <= most)]
    slot.left += max(moves, key=lambda move: sum(weight for bend, weight in bends if abs(bend - move) < 0.5))


def _stiffness(link: Link) -> float:
    """Wires that pass several layers are kept straight first."""
    return {0: 1.0, 1: 2.0, 2: 8.0}[(link.upper.key is None) + (link.lower.key is None)]


def increasing(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to `wanted` in weighted squares (pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(wanted, weights, strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return [value for value, _, count in pools for _ in range(count)]
