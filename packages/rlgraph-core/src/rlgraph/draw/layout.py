"""Layout: gives every element a box inside its parent's box, and every wire a path. It has no dependency.

Each container is laid out separately, with its contents in layers, and is then one box in its own container. API
methods through which values enter are ports of the upper border; those through which they leave, of the lower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.draw.container_layout import Container
from rlgraph.draw.geometry import PADDING, Block, Picture, Port, label_width, leaf_size
from rlgraph.draw.scene import COMPONENT, Element, Scene, Wire


def lay_out(scene: Scene) -> Picture:
    """Lay out everything in `scene`."""
    root = _block(scene, scene.root, [])
    picture = Picture(root.width + 2 * PADDING, root.height + 2 * PADDING)
    root.paste(picture, PADDING, PADDING, "")
    return picture


def _block(scene: Scene, element: Element, around: Sequence[Wire]) -> Block:
    """`element` laid out; `around` are the wires of its container."""
    inlets, outlets = _ports(scene, element, around)
    if not element.children:
        width, height = leaf_size(element)
        width = max([width, *(sum(list(map(_room, t.values()))[:-1]) + 20 for t in (inlets, outlets))])
        return Block(
            element, width, height, _row(inlets, width), _row(outlets, width), Picture(width, height)
        )
    wires = scene.wires.get(element.key, [])
    parts = [_block(scene, child, wires) for child in element.children]
    return Container(element, parts, wires, inlets, outlets).block()


def _ports(scene: Scene, element: Element, around: Sequence[Wire]) -> tuple[dict[str, str], dict[str, str]]:
    """The labels by port, of the upper and of the lower border."""
    named = element.kind == COMPONENT
    inlets = {w.target.port: w.target.port if named else "" for w in around if w.target.key == element.key}
    outlets = {w.source.port: _outlet_text(scene, w, around) for w in around if w.source.key == element.key}
    return inlets, outlets


def _outlet_text(scene: Scene, wire: Wire, around: Sequence[Wire]) -> str:
    """The label of a port; omitted where the container's own port has the same one."""
    text = scene.labels.get(wire.source, "")
    targets = [other.target for other in around if other.source == wire.source]
    passed_on = all(t.key == wire.container and scene.labels.get(t) == text for t in targets)
    return "" if passed_on else text


def _row(texts: Mapping[str, str], width: float) -> dict[str, Port]:
    """Ports along a border of length `width`; a single one in the middle."""
    if len(texts) == 1:
        return {port: Port(width / 2, text) for port, text in texts.items()}
    x = max((width - sum(map(_room, texts.values()))) / 2, 0.0) + 8
    ports = {}
    for port, text in texts.items():
        ports[port] = Port(x, text)
        x += _room(text)
    return ports


def _room(text: str) -> float:
    return max(label_width(text), 12.0)
