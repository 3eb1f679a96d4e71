"""A picture as a self-contained SVG document, without scripts and external fonts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from rlgraph.draw.geometry import (
    HEADER,
    LINE,
    PADDING,
    SMALL,
    TITLE,
    Box,
    Label,
    Picture,
    Point,
    Route,
    chip_width,
)
from rlgraph.draw.palette import (
    BORDER,
    CHIP,
    FAILURE,
    FAINT,
    GRADIENT,
    HOST,
    INK,
    LEVELS,
    SHARED,
    box_colours,
    device_colours,
    method_colours,
    tint,
)
from rlgraph.draw.scene import COMPONENT, ENTRY, EXIT, FUNCTION, GRADIENTS, INPUT, OUTPUT, REGION, Scene
from rlgraph.draw.text_metrics import FAMILY, text_width

_RADIUS = 6.0
_LEGEND_LINE = 20.0


def to_svg(scene: Scene, picture: Picture) -> str:
    """The SVG document of a laid-out scene."""
    methods, devices = method_colours(scene), device_colours(scene)
    legend, _ = _legend(scene, picture)
    width, height = map(_number, svg_size(scene, picture))
    body = [
        *(line for box in picture.boxes for line in _box(box, methods, devices)),
        *(line for route in picture.routes for line in _route(route, methods)),
        *(line for route in picture.routes for line in _end(route, methods)),
        *(_label(label) for label in picture.labels),
        *legend,
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family={quoteattr(FAMILY)}>',
            f"<title>{escape(scene.root.title)}: {escape(', '.join(scene.methods))}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *body,
            "</svg>\n",
        ]
    )


def svg_size(scene: Scene, picture: Picture) -> tuple[float, float]:
    """Width and height of the document, its legend included."""
    _, rows = _legend(scene, picture)
    return picture.width, picture.height + (_LEGEND_LINE * rows + 10 if rows else 0)


# Boxes.


def _box(box: Box, methods: Mapping[str, str], devices: dict[str, str]) -> Iterator[str]:
    element = box.element
    if element.kind in (COMPONENT, REGION):
        yield from _container(box, devices)
    elif element.kind in (FUNCTION, GRADIENTS, ENTRY, EXIT):
        fill, stroke = box_colours(element, devices)
        control = element.kind in (ENTRY, EXIT)
        yield _rect(box, fill, stroke, radius=box.height / 2, dashed=control, bold=element.marked)
        yield _text(element.title, box.x + box.width / 2, box.y + 15, anchor="middle")
    else:
        colour = methods.get(element.method, SHARED)
        yield _rect(box, "#ffffff", colour, radius=4)
        bar = box.y if element.kind == INPUT else box.y + box.height - 4
        yield (
            f'<rect x="{_number(box.x)}" y="{_number(bar)}" width="{_number(box.width)}" height="4" rx="2" '
            f'fill="{colour}"/>'
        )
        top = box.y + (19 if element.kind == INPUT else 17)
        yield _text(element.title, box.x + 10, top, size=TITLE, bold=True, fill=colour)
        for number, line in enumerate(element.lines):
            yield _text(line, box.x + 10, top + LINE * (number + 1), fill=FAINT)


def _container(box: Box, devices: dict[str, str]) -> Iterator[str]:
    element = box.element
    fill, stroke = box_colours(element, devices)
    dashed = element.frozen or element.kind == REGION
    yield _rect(box, fill, stroke, radius=8, dashed=dashed, bold=element.marked)
    if element.storage != element.device and element.storage:
        yield _bar(box, devices[element.storage])
    if element.stateful:
        yield _cylinder(box.x + box.width - 17, box.y + 7)
    if element.children:
        yield _header(box, stroke)
        yield _text(element.title, box.x + PADDING, box.y + 20, size=TITLE, bold=True)
        yield _text(element.subtitle, box.x + PADDING, box.y + 35, fill=FAINT)
        return
    middle = box.x + box.width / 2
    yield _text(element.title, middle, box.y + 19, size=TITLE, bold=True, anchor="middle")
    yield _text(element.subtitle, middle, box.y + 34, fill=FAINT, anchor="middle")
    x = middle - (sum(chip_width(line) + 4 for line in element.lines) - 4) / 2
    for line in element.lines:
        fill, stroke = GRADIENT if line == "gradients" else CHIP
        chip = Box(element, x, box.y + 42, chip_width(line), 18)
        yield _rect(chip, fill, stroke, radius=9)
        yield _text(line, x + chip_width(line) / 2, box.y + 55, anchor="middle")
        x += chip_width(line) + 4


def _header(box: Box, stroke: str) -> str:
    """The title bar of an open component: inlets end at its upper edge and continue from its lower edge."""
    x, y, right, low = box.x, box.y, box.x + box.width, box.y + HEADER
    path = f"M{_pair((x, low))} V{_number(y + 8)} Q{_pair((x, y))} {_pair((x + 8, y))} H{_number(right - 8)} "
    path += f"Q{_pair((right, y))} {_pair((right, y + 8))} V{_number(low)} Z"
    return f'<path d="{path}" fill="{stroke}" fill-opacity="0.22"/>'


def _bar(box: Box, colour: str) -> str:
    """The bar at the left edge: the device of the variables, if it is not that of the graph functions."""
    x, y, low = box.x, box.y + 8, box.y + box.height - 8
    return f'<path d="M{_pair((x, y))} V{_number(low)}" stroke="{colour}" stroke-width="5"/>'


def _cylinder(x: float, y: float) -> str:
    """The sign of variables, 10 wide and 12 high."""
    path = "M0 2.5 V9.5 A5 2.5 0 0 0 10 9.5 V2.5 A5 2.5 0 0 0 0 2.5 A5 2.5 0 0 0 10 2.5"
    return (
        f'<path transform="translate({_number(x)} {_number(y)})" d="{path}" fill="#ffffff" stroke="{FAINT}"/>'
    )


# Wires.


def _colour(route: Route, colours: Mapping[str, str]) -> str:
    methods = route.wire.methods
    return colours[next(iter(methods))] if len(methods) == 1 else SHARED


def _route(route: Route, colours: Mapping[str, str]) -> Iterator[str]:
    dash = ' stroke-dasharray="5 4"' if route.wire.variables else ""
    points = list(route.points)
    if route.arrow:
        points[-1] = (points[-1][0], points[-1][1] - 4)
    yield f'<path d="{_rounded(points)}" fill="none" stroke="{_colour(route, colours)}" stroke-width="1.5"{dash}/>'


def _end(route: Route, colours: Mapping[str, str]) -> Iterator[str]:
    """An arrow head, or a dot where the wire continues past a border."""
    (x, y), colour = route.points[-1], _colour(route, colours)
    if route.arrow:
        corners = " ".join(f"{_number(a)},{_number(b)}" for a, b in ((x - 4, y - 8), (x + 4, y - 8), (x, y)))
        yield f'<polygon points="{corners}" fill="{colour}"/>'
    else:
        yield f'<circle cx="{_number(x)}" cy="{_number(y)}" r="2.5" fill="{colour}"/>'


def _rounded(points: list[Point]) -> str:
    """A path through `points` with round corners."""
    parts = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _towards(corner, before), _towards(corner, after)
        parts.append(f"L{_pair(start)} Q{_pair(corner)} {_pair(end)}")
    return " ".join([*parts, f"L{_pair(points[-1])}"])


def _towards(corner: Point, other: Point) -> Point:
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(_RADIUS, length / 2) / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _label(label: Label) -> str:
    return _text(label.text, label.x, label.y, fill=INK if label.kind == "method" else FAINT)


# The legend: only signs that occur.


def _legend(scene: Scene, picture: Picture) -> tuple[list[str], int]:
    """The legend of signs and colours, in as many rows as the width needs."""
    lines, row, x = [], 0, PADDING + 2
    for swatch, text in _entries(scene):
        width = 26 + text_width(text, SMALL)
        if x > PADDING + 2 and x + width > picture.width:
            row, x = row + 1, PADDING + 2
        y = picture.height + 4 + row * _LEGEND_LINE
        lines.append(f'<g transform="translate({_number(x)} {_number(y)})">{swatch}</g>')
        lines.append(_text(text, x + 26, y + 11, fill=FAINT))
        x += width + 22
    return lines, row + 1 if lines else 0


def _entries(scene: Scene) -> Iterator[tuple[str, str]]:
    elements = list(scene.root.walk())
    wires = [wire for wires in scene.wires.values() for wire in wires]
    if any(e.marked for e in elements):
        yield _rect_swatch(*FAILURE), "fails here"
    for name, colour in device_colours(scene).items():
        yield _rect_swatch(tint(colour, 0.2), colour), name
    if any(e.storage != e.device and e.storage for e in elements):
        yield f'<path d="M10 0 V14" stroke="{FAINT}" stroke-width="5"/>', "device of the variables"
    if any(e.host and e.kind == COMPONENT for e in elements):
        yield _rect_swatch(*HOST), "host component (NumPy)"
    if any(e.stateful for e in elements):
        yield _cylinder(5, 1), "has variables"
    if any(e.frozen for e in elements):
        yield _rect_swatch(LEVELS[1], BORDER, dashed=True), "not trainable"
    if any(wire.variables for wire in wires):
        yield _line_swatch(INK, dashed=True), "variables"
    if any(len(wire.methods) > 1 for wire in wires):
        yield _line_swatch(SHARED), "used by several API methods"
    named = {e.title for e in elements if e.kind in (INPUT, OUTPUT)}
    for method, colour in method_colours(scene).items():
        if method not in named and any(wire.methods == {method} for wire in wires):
            yield _line_swatch(colour), method


def _rect_swatch(fill: str, stroke: str, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<rect x="0" y="1" width="20" height="12" rx="3" fill="{fill}" stroke="{stroke}"{dash}/>'


def _line_swatch(colour: str, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M0 7 L20 7" stroke="{colour}" stroke-width="1.5"{dash}/>'


# Primitives.


def _rect(
    box: Box, fill: str, stroke: str, *, radius: float, dashed: bool = False, bold: bool = False
) -> str:
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    wide = ' stroke-width="3"' if bold else ""
    return (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" '
        f'height="{_number(box.height)}" rx="{_number(radius)}" fill="{fill}" stroke="{stroke}"{wide}{dash}/>'
    )


def _text(
    text: str,
    x: float,
    y: float,
    *,
    size: float = SMALL,
    bold: bool = False,
    fill: str = INK,
    anchor: str = "start",
) -> str:
    if not text:
        return ""
    weight = ' font-weight="bold"' if bold else ""
    middle = ' text-anchor="middle"' if anchor == "middle" else ""
    length = _number(text_width(text, size, bold=bold))
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" fill="{fill}"{weight}{middle} '
        f'textLength="{length}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
