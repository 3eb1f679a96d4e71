"""The layout of one container: parts in layers, wires in the channels between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from rlgraph.draw.geometry import (
    BESIDE,
    HEADER,
    PADDING,
    STRIP,
    Block,
    Label,
    Picture,
    Point,
    Port,
    Route,
    label_width,
    title_width,
)
from rlgraph.draw.layer_assignment import LANE, Layers, Link, Slot, arrange, assign_layers, back_edges
from rlgraph.draw.routing import MARGIN, TRACK, Net, assign_tracks, channel_height, simplify
from rlgraph.draw.scene import ENTRY, EXIT, INPUT, OUTPUT, Element, End, Wire


class Container:
    """Lays out `element` with its laid-out parts.

    Args:
        element: a component with visible parts.
        parts: its parts.
        wires: the wires between them, and between them and its own ports.
        inlets, outlets: text by port of its upper and lower border.
    """

    def __init__(
        self,
        element: Element,
        parts: Sequence[Block],
        wires: Sequence[Wire],
        inlets: Mapping[str, str],
        outlets: Mapping[str, str],
    ) -> None:
        self.element, self.wires, self.inlets, self.outlets = element, wires, inlets, outlets
        self.parts: dict[Hashable, Block] = {part.element.key: part for part in parts}
        self.slots: dict[Hashable, Slot] = {}
        self.layers = Layers()
        self.paths: dict[int, list[Link]] = {}
        self.lanes: dict[Any, float] = {}

    def block(self) -> Block:
        """The element with everything inside."""
        self._make_slots()
        self._make_links()
        arrange(self.layers)
        self._fit_title()
        self._make_lanes()
        self._route()
        return self._draw()

    # Slots: one per part and per port of the border.

    def _make_slots(self) -> None:
        tops: list[Hashable] = [("in", port) for port in self.inlets]
        bottoms: list[Hashable] = [("out", port) for port in self.outlets]
        tops += [k for k, p in self.parts.items() if p.element.kind == INPUT]
        bottoms += [k for k, p in self.parts.items() if p.element.kind == OUTPUT]
        middle = [key for key in self.parts if key not in tops and key not in bottoms]
        order = [*tops, *middle, *bottoms]
        edges = list(dict.fromkeys((self._from(w), self._to(w)) for w in self.wires))
        self.back = back_edges(order, [e for e in edges if not self._closes_loop(e)])
        self.back |= {edge for edge in edges if self._closes_loop(edge)}
        forward = [edge for edge in edges if edge not in self.back]
        layer = assign_layers(order, forward, set(tops), set(bottoms))
        for key in order:
            self.slots[key] = Slot(key, *self._slot_size(key), layer[key])
        self.layers.slots = [[] for _ in range(1 + max(slot.layer for slot in self.slots.values()))]
        for slot in self.slots.values():
            self.layers.slots[slot.layer].append(slot)

    def _closes_loop(self, edge: tuple[Hashable, Hashable]) -> bool:
        """Whether an edge leads from one iteration to the next."""
        kinds = [part.element.kind if (part := self.parts.get(key)) else "" for key in edge]
        return kinds == [EXIT, ENTRY]

    def _from(self, wire: Wire) -> Hashable:
        return ("in", wire.source.port) if wire.source.key == self.element.key else wire.source.key

    def _to(self, wire: Wire) -> Hashable:
        return ("out", wire.target.port) if wire.target.key == self.element.key else wire.target.key

    def _slot_size(self, key: Hashable) -> tuple[float, float]:
        part = self.parts.get(key)
        if part is not None:
            return part.extent, part.height + (STRIP if any(p.label for p in part.outlets.values()) else 0)
        ports: dict[Hashable, str] = {("in", port): text for port, text in self.inlets.items()}
        ports |= {("out", port): text for port, text in self.outlets.items()}
        return BESIDE + label_width(ports[key]), 0.0

    def _offset(self, key: Hashable, end: End, upper: bool) -> float:
        """The offset in its slot at which a wire meets a part: at the lower border for the upper end of a wire."""
        part = self.parts.get(key)
        if part is None:
            return BESIDE
        return (part.outlets if upper else part.inlets)[end.port].x

    # Links: a wire is cut into one link per layer; wires with the same source and style share links.

    def _make_links(self) -> None:
        passing: dict[tuple[Any, int], Slot] = {}
        known: dict[tuple[Any, ...], Link] = {}
        for number, wire in enumerate(self.wires):
            source, target = self._from(wire), self._to(wire)
            if (source, target) in self.back:
                continue
            net, upper, lower = _net(wire), self.slots[source], self.slots[target]
            offset = self._offset(source, wire.source, True)
            path = self.paths[number] = []
            for layer in range(upper.layer + 1, lower.layer + 1):
                if layer == lower.layer:
                    following, into = lower, self._offset(target, wire.target, False)
                else:
                    following, into = passing.setdefault((net, layer), Slot(None, 2.0, 0.0, layer)), 1.0
                    if following not in self.layers.slots[layer]:
                        self.layers.slots[layer].append(following)
                key = (net, upper, offset, following, into)
                path.append(known.setdefault(key, Link(net, upper, offset, following, into)))
                upper, offset = following, into
        self.layers.links = list(known.values())

    def _fit_title(self) -> None:
        """Make the box at least as wide as its title, with centred contents."""
        slots = [slot for row in self.layers.slots for slot in row]
        width = max((slot.left + slot.width for slot in slots), default=0.0)
        self.right = max(width, title_width(self.element))
        for slot in slots:
            slot.left += (self.right - width) / 2

    def _make_lanes(self) -> None:
        """Route wires that lead upwards along the right edge."""
        for wire in self.wires:
            if (self._from(wire), self._to(wire)) in self.back and _net(wire) not in self.lanes:
                self.right += LANE
                self.lanes[_net(wire)] = self.right

    # Heights.

    def _route(self) -> None:
        rows = self.layers.slots
        nets = self._nets()
        self.tracks: list[dict[Any, float]] = []
        self.tops: list[float] = []
        y = HEADER + (8 if self.element.level == 0 else 0)
        for number, row in enumerate(rows):
            if any(self._has_inlet_label(slot) for slot in row):
                y += STRIP
            self.tops.append(y)
            y += max((slot.height for slot in row), default=0.0)
            tracks = assign_tracks(nets[number])
            self.tracks.append({net: y + MARGIN + TRACK * track for net, track in tracks.items()})
            if number < len(rows) - 1 or not self.outlets:
                y += channel_height(tracks)
        self.height = y

    def _has_inlet_label(self, slot: Slot) -> bool:
        part = self.parts.get(slot.key)
        return part is not None and any(port.label for port in part.inlets.values())

    def _nets(self) -> list[dict[Any, Net]]:
        """By channel (the one below each layer), the nets to connect."""
        pins: list[dict[Any, tuple[set[float], set[float]]]] = [{} for _ in self.layers.slots]
        for link in self.layers.links:
            above, below = pins[link.upper.layer].setdefault(link.net, (set(), set()))
            above.add(link.upper_x)
            below.add(link.lower_x)
        for wire in self.wires:
            source, target = self._from(wire), self._to(wire)
            if (source, target) in self.back:
                start, end, lane = self._ends(wire)
                net = _net(wire)
                pins[self.slots[source].layer].setdefault((net, "down"), (set(), set()))[0].update(
                    (start, lane)
                )
                pins[self.slots[target].layer - 1].setdefault((net, "up"), (set(), set()))[1].update(
                    (end, lane)
                )
        return [
            {key: Net(tuple(sorted(a)), tuple(sorted(b))) for key, (a, b) in channel.items()}
            for channel in pins
        ]

    def _ends(self, wire: Wire) -> tuple[float, float, float]:
        source, target = self._from(wire), self._to(wire)
        start = self.slots[source].left + self._offset(source, wire.source, True)
        end = self.slots[target].left + self._offset(target, wire.target, False)
        return start, end, self.lanes[_net(wire)]

    # The result.

    def _draw(self) -> Block:
        width, picture = self.right + 2 * PADDING, Picture(0, 0)
        for key, part in self.parts.items():
            x, y = self.slots[key].left + PADDING, self.tops[self.slots[key].layer]
            part.paste(picture, x, y, self.element.key)
            for port in part.inlets.values():
                if port.label:
                    picture.labels.append(Label(port.label, x + port.x + BESIDE, y - 6, "method"))
            for port in part.outlets.values():
                if port.label:
                    picture.labels.append(
                        Label(port.label, x + port.x + BESIDE, y + part.height + 13, "space")
                    )
        for number, wire in enumerate(self.wires):
            points = self._path(self.paths[number]) if number in self.paths else self._back_path(wire)
            arrow = self._to(wire) in self.parts
            moved = tuple((x + PADDING, y) for x, y in simplify(points))
            picture.routes.append(Route(wire, moved, arrow))
        inlets, outlets = self._border("in", self.inlets), self._border("out", self.outlets)
        return Block(self.element, width, self.height, inlets, outlets, picture)

    def _border(self, side: str, texts: Mapping[str, str]) -> dict[str, Port]:
        return {p: Port(self.slots[side, p].left + BESIDE + PADDING, text) for p, text in texts.items()}

    def _path(self, links: Sequence[Link]) -> list[Point]:
        points: list[Point] = [(links[0].upper_x, self._bottom(links[0].upper))]
        for link in links:
            y = self.tracks[link.upper.layer].get(link.net)
            if y is not None:
                points += [(link.upper_x, y), (link.lower_x, y)]
        return [*points, (links[-1].lower_x, self._top(links[-1].lower))]

    def _back_path(self, wire: Wire) -> list[Point]:
        source, target = self.slots[self._from(wire)], self.slots[self._to(wire)]
        start, end, lane = self._ends(wire)
        low = self.tracks[source.layer][_net(wire), "down"]
        high = self.tracks[target.layer - 1][_net(wire), "up"]
        corners = [(start, low), (lane, low), (lane, high), (end, high)]
        return [(start, self._bottom(source)), *corners, (end, self._top(target))]

    def _bottom(self, slot: Slot) -> float:
        part = self.parts.get(slot.key)
        return HEADER if part is None else self.tops[slot.layer] + part.height

    def _top(self, slot: Slot) -> float:
        return self.height if slot.key not in self.parts else self.tops[slot.layer]


def _net(wire: Wire) -> tuple[End, frozenset[str], bool]:
    return wire.source, frozenset(wire.methods), wire.variables
