"""A scene in the DOT language of Graphviz (https://graphviz.org/doc/info/lang.html).

Open components are clusters. A cluster has no ports, so each API method through which values cross its border
is a small node just inside; an edge across the border is two edges that meet there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlgraph.draw.palette import FAINT, INK, SHARED, box_colours, device_colours, method_colours
from rlgraph.draw.scene import COMPONENT, ENTRY, EXIT, INPUT, OUTPUT, REGION, Element, End, Scene


def to_dot(scene: Scene) -> str:
    """The scene as a ``digraph``."""
    lines = [
        f"digraph {_quoted(scene.root.title)} {{",
        "  graph [rankdir=TB, compound=true, newrank=true, fontname=Helvetica, fontsize=12];",
        "  node [fontname=Helvetica, fontsize=10, style=filled, fillcolor=white];",
        "  edge [fontname=Helvetica, fontsize=9, arrowsize=0.7];",
        *_element(scene, scene.root, method_colours(scene), device_colours(scene), "  "),
        *_edges(scene),
        *_legend(scene),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _element(
    scene: Scene, element: Element, methods: Mapping[str, str], devices: dict[str, str], indent: str
) -> Iterator[str]:
    fill, border = box_colours(element, devices)
    dashed = ",dashed" if element.frozen or element.kind in (REGION, ENTRY, EXIT) else ""
    width = 3 if element.marked else 1
    if element.children:
        inner = indent + "  "
        yield f"{indent}subgraph {_quoted('cluster_' + element.key)} {{"
        yield f"{inner}label={_quoted(_text(element))};"
        yield f'{inner}style="filled,rounded{dashed}"; fillcolor="{fill}"; color="{border}"; penwidth={width};'
        yield from _ports(scene, element, inner)
        for child in element.children:
            yield from _element(scene, child, methods, devices, inner)
        yield f"{indent}}}"
        return
    shape, style = "box", f"filled,rounded{dashed}"
    if element.kind in (INPUT, OUTPUT):
        border, style, width = methods.get(element.method, SHARED), "filled", 2
        shape = "invhouse" if element.kind == INPUT else "house"
    yield (
        f"{indent}{_quoted(element.key)} [label={_quoted(_text(element))}, shape={shape}, "
        f'style="{style}", fillcolor="{fill}", color="{border}", penwidth={width}];'
    )


def _text(element: Element) -> str:
    storage = f"variables on {element.storage}" if element.storage not in ("", element.device) else ""
    place = f"on {element.device}" if element.device and element.kind == COMPONENT else ""
    return "\n".join(filter(None, [element.title, element.subtitle, place, storage, *element.lines]))


def _ports(scene: Scene, element: Element, indent: str) -> Iterator[str]:
    ports = {
        _port(end, inlet): (end.port, inlet)
        for wires in scene.wires.values()
        for wire in wires
        for end, inlet in (
            (wire.source, wire.container == element.key),
            (wire.target, wire.container != element.key),
        )
        if end.key == element.key
    }
    for name, (port, inlet) in ports.items():
        if inlet:
            yield f'{indent}{_quoted(name)} [label={_quoted(port)}, shape=plain, style=solid, fontcolor="{INK}"];'
        else:
            yield f"{indent}{_quoted(name)} [label={_quoted('')}, xlabel={_quoted(port)}, shape=point];"


def _port(end: End, inlet: bool) -> str:
    return f"{end.key}{'<' if inlet else '>'}{end.port}"


def _edges(scene: Scene) -> Iterator[str]:
    elements, colours = scene.elements, method_colours(scene)
    for wires in scene.wires.values():
        for wire in wires:
            source = _name(elements, wire.source, wire.source.key == wire.container)
            target = _name(elements, wire.target, wire.target.key != wire.container)
            space = "" if wire.source.key == wire.container else scene.labels.get(wire.source, "")
            called = wire.target.port if not elements[wire.target.key].children else ""
            label = "\n".join(filter(None, [called, space]))
            colour = colours[next(iter(wire.methods))] if len(wire.methods) == 1 else SHARED
            style = "dashed" if wire.variables else "solid"
            yield (
                f"  {_quoted(source)} -> {_quoted(target)} "
                f'[label={_quoted(label)}, color="{colour}", style={style}, fontcolor="{FAINT}"];'
            )


def _name(elements: Mapping[str, Element], end: End, inlet: bool) -> str:
    return _port(end, inlet) if elements[end.key].children else end.key


def _legend(scene: Scene) -> Iterator[str]:
    devices = device_colours(scene)
    if not devices:
        return
    yield '  subgraph "cluster legend" {'
    yield "    label=devices; style=rounded;"
    for name, colour in devices.items():
        attributes = f'label={_quoted(name)}, shape=box, color="{colour}", penwidth=3'
        yield f"    {_quoted('legend ' + name)} [{attributes}];"
    yield "  }"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
