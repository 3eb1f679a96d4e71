"""A scene without geometry: an indented tree, and a Mermaid flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlgraph.core.draw.scene import COMPONENT, INPUT, OUTPUT, Element, End, Scene, Wire


def to_text(scene: Scene) -> str:
    """An indented tree of the components; below each what flows between its parts."""
    return "\n".join(_lines(scene, scene.root, "")) + "\n"


def _lines(scene: Scene, element: Element, indent: str) -> Iterator[str]:
    yield f"{indent}{element.title}: {element.subtitle}"
    inner = indent + "  "
    for child in element.children:
        if child.kind in (INPUT, OUTPUT):
            yield f"{inner}{child.kind} {child.title}" + (
                f": {', '.join(child.lines)}" if child.lines else ""
            )
    functions = [c.title for c in element.children if c.kind not in (COMPONENT, INPUT, OUTPUT)]
    if functions or element.lines:
        yield f"{inner}({', '.join([*functions, *element.lines])})"
    for child in element.children:
        if child.kind == COMPONENT:
            yield from _lines(scene, child, inner)
    for wire in scene.wires.get(element.key, ()):
        label = "" if wire.source.key == element.key else scene.labels.get(wire.source, "")
        source, target = (_end_text(scene, wire, end) for end in (wire.source, wire.target))
        yield f"{inner}{source} -> {target}" + (f": {label}" if label else "")


def _end_text(scene: Scene, wire: Wire, end: End) -> str:
    """``part.method``; a port of the container itself is only ``method``."""
    element = scene.elements[end.key]
    if end.key == wire.container:
        return end.port
    name = f"{element.kind} {element.title}" if element.kind in (INPUT, OUTPUT) else element.title
    return f"{name}.{end.port}" if end.port else name


def to_mermaid(scene: Scene) -> str:
    """A Mermaid flowchart: open components are subgraphs."""
    lines = ["flowchart TB", *_mermaid_element(scene.root, "  ")]
    for wires in scene.wires.values():
        for wire in wires:
            # A subgraph has no ports: a wire at the container's own border would be a loop.
            if wire.container not in (wire.source.key, wire.target.key):
                arrow = "-.->" if wire.variables else "-->"
                label = f'|"{wire.target.port}"|' if wire.target.port else ""
                lines.append(
                    f"  {_identifier(wire.source.key)} {arrow}{label} {_identifier(wire.target.key)}"
                )
    return "\n".join(lines) + "\n"


def _mermaid_element(element: Element, indent: str) -> Iterator[str]:
    name = _identifier(element.key)
    if element.children:
        yield f'{indent}subgraph {name}["{element.title}"]'
        for child in element.children:
            yield from _mermaid_element(child, indent + "  ")
        yield f"{indent}end"
        return
    text = "<br/>".join([element.title, *([element.subtitle] if element.subtitle else []), *element.lines])
    opening, closing = ("[", "]") if element.kind == COMPONENT else ("([", "])")
    yield f'{indent}{name}{opening}"{text}"{closing}'


def _identifier(key: str) -> str:
    return "n_" + re.sub(r"\W", lambda match: f"_{ord(match.group()):x}_", key)
