"""A scene without geometry: an indented tree, and a Mermaid flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlgraph.draw.palette import box_colours, device_colours
from rlgraph.draw.scene import (
    COMPONENT,
    ENTRY,
    EXIT,
    FUNCTION,
    GRADIENTS,
    INPUT,
    OUTPUT,
    REGION,
    Element,
    End,
    Scene,
    Wire,
)


def to_text(scene: Scene) -> str:
    """An indented tree of the components, with the data flow below each."""
    return "\n".join(_lines(scene, scene.root, "")) + "\n"


def _lines(scene: Scene, element: Element, indent: str) -> Iterator[str]:
    subtitle = f": {element.subtitle}" if element.subtitle else ""
    yield f"{indent}{element.title}{subtitle}{_remarks(element)}"
    inner = indent + "  "
    for child in element.children:
        if child.kind in (INPUT, OUTPUT):
            yield f"{inner}{child.kind} {child.title}" + (
                f": {', '.join(child.lines)}" if child.lines else ""
            )
    functions = [c.title + _remarks(c) for c in element.children if c.kind in (FUNCTION, GRADIENTS)]
    if functions or element.lines:
        yield f"{inner}({', '.join([*functions, *element.lines])})"
    for child in element.children:
        if child.kind in (COMPONENT, REGION):
            yield from _lines(scene, child, inner)
    for wire in scene.wires.get(element.key, ()):
        label = "" if wire.source.key == element.key else scene.labels.get(wire.source, "")
        source, target = (_end_text(scene, wire, end) for end in (wire.source, wire.target))
        yield f"{inner}{source} -> {target}" + (f": {label}" if label else "")


def _remarks(element: Element) -> str:
    """The properties that a drawing shows by colours."""
    remarks = [f"on {element.device}"] if element.device else []
    if element.storage and element.storage != element.device:
        remarks.append(f"variables on {element.storage}")
    if element.host and element.kind == COMPONENT:
        remarks.append("host")
    if element.marked:
        remarks.append("fails here")
    return f" <{', '.join(remarks)}>" if remarks else ""


def _end_text(scene: Scene, wire: Wire, end: End) -> str:
    """``part.method``; for a port of the container itself only ``method``."""
    element = scene.elements[end.key]
    if end.key == wire.container:
        return end.port
    name = f"{element.kind} {element.title}" if element.kind in (INPUT, OUTPUT) else element.title
    return f"{name}.{end.port}" if end.port else name


def to_mermaid(scene: Scene) -> str:
    """A Mermaid flowchart: open components are subgraphs."""
    devices = device_colours(scene)
    lines = ["flowchart TB", *_mermaid_element(scene.root, "  ")]
    for wires in scene.wires.values():
        for wire in wires:
            # A subgraph has no ports: a wire at the container's own border would be a loop.
            if wire.container not in (wire.source.key, wire.target.key):
                arrow = "-.->" if wire.variables else "-->"
                text = "<br/>".join(filter(None, [wire.target.port, scene.labels.get(wire.source, "")]))
                label = f'|"{_escaped(text)}"|' if text else ""
                lines.append(
                    f"  {_identifier(wire.source.key)} {arrow}{label} {_identifier(wire.target.key)}"
                )
    lines.extend(_mermaid_style(element, devices) for element in scene.root.walk() if _is_coloured(element))
    return "\n".join(lines) + "\n"


def _mermaid_element(element: Element, indent: str) -> Iterator[str]:
    name = _identifier(element.key)
    if element.children:
        title = " · ".join(filter(None, [element.title, element.subtitle]))
        yield f'{indent}subgraph {name}["{_escaped(title)}"]'
        for child in element.children:
            yield from _mermaid_element(child, indent + "  ")
        yield f"{indent}end"
        return
    text = "<br/>".join(filter(None, [element.title, element.subtitle, *element.lines]))
    opening, closing = ("[", "]") if element.kind in (COMPONENT, REGION) else ("([", "])")
    yield f'{indent}{name}{opening}"{_escaped(text)}"{closing}'


def _is_coloured(element: Element) -> bool:
    special = element.marked or element.host or element.frozen or element.device
    return bool(special) or element.kind in (REGION, ENTRY, EXIT)


def _mermaid_style(element: Element, devices: dict[str, str]) -> str:
    fill, stroke = box_colours(element, devices)
    dashes = ",stroke-dasharray:6 4" if element.frozen or element.kind in (REGION, ENTRY, EXIT) else ""
    width = ",stroke-width:3px" if element.marked else ""
    return f"  style {_identifier(element.key)} fill:{fill},stroke:{stroke}{dashes}{width}"


def _escaped(text: str) -> str:
    return text.replace('"', "#quot;")


def _identifier(key: str) -> str:
    return "n_" + re.sub(r"\W", lambda match: f"_{ord(match.group()):x}_", key)
