"""A picture as SVG: one self-contained document, no script, no external font."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from rlgraph.core.draw.geometry import (
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
from rlgraph.core.draw.metrics import FAMILY, text_width
from rlgraph.core.draw.scene import COMPONENT, FUNCTION, GRADIENTS, INPUT, Scene

INK, FAINT, SHARED = "#1f2933", "#66727f", "#5c6773"
#: Wires, inputs and outputs of one root API method; what several share is `SHARED`.
METHOD_COLOURS = ("#2563eb", "#2b8a3e", "#d9480f", "#9c36b5", "#0b7285", "#c2255c", "#846a00", "#5f3dc4")
_LEVELS = ("#ffffff", "#f1f5fa", "#e2eaf5", "#d3dff0", "#c4d4ea")
_BORDER = "#93a7c1"
_HOST = ("#fff3dc", "#d8a545")
_CHIP = ("#ffffff", "#b4c0cf")
_GRADIENTS = ("#f0e6fa", "#a57fc9")
_RADIUS = 6.0
_LEGEND = 30.0


def to_svg(scene: Scene, picture: Picture) -> str:
    """The SVG document of a laid-out scene."""
    legend = list(_legend(scene, picture))
    width, height = _number(picture.width), _number(picture.height + (_LEGEND if legend else 0))
    colours = {m: METHOD_COLOURS[i % len(METHOD_COLOURS)] for i, m in enumerate(scene.all_methods)}
    body = [
        *(line for box in picture.boxes for line in _box(box, colours)),
        *(line for route in picture.routes for line in _route(route, colours)),
        *(line for route in picture.routes for line in _end(route, colours)),
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


# Boxes.


def _box(box: Box, colours: Mapping[str, str]) -> Iterator[str]:
    element = box.element
    if element.kind == COMPONENT:
        yield from _component(box)
    elif element.kind in (FUNCTION, GRADIENTS):
        fill, stroke = _HOST if element.host else _GRADIENTS if element.kind == GRADIENTS else _CHIP
        yield _rect(box.x, box.y, box.width, box.height, fill, stroke, radius=box.height / 2)
        yield _text(element.title, box.x + box.width / 2, box.y + 15, anchor="middle")
    else:
        colour = colours[element.method]
        yield _rect(box.x, box.y, box.width, box.height, "#ffffff", colour, radius=4)
        bar = box.y if element.kind == INPUT else box.y + box.height - 4
        yield f'<rect x="{_number(box.x)}" y="{_number(bar)}" width="{_number(box.width)}" height="4" fill="{colour}"/>'
        top = box.y + (19 if element.kind == INPUT else 17)
        yield _text(element.title, box.x + 10, top, size=TITLE, bold=True, fill=colour)
        for number, line in enumerate(element.lines):
            yield _text(line, box.x + 10, top + LINE * (number + 1), fill=FAINT)


def _component(box: Box) -> Iterator[str]:
    element = box.element
    fill, stroke = _HOST if element.host else (_LEVELS[min(element.level, len(_LEVELS) - 1)], _BORDER)
    yield _rect(box.x, box.y, box.width, box.height, fill, stroke, radius=8, dashed=element.frozen)
    if element.children:
        yield _bar(box, stroke)
        yield _text(element.title, box.x + PADDING, box.y + 20, size=TITLE, bold=True)
        yield _text(element.subtitle, box.x + PADDING, box.y + 35, fill=FAINT)
        return
    middle = box.x + box.width / 2
    yield _text(element.title, middle, box.y + 19, size=TITLE, bold=True, anchor="middle")
    yield _text(element.subtitle, middle, box.y + 34, fill=FAINT, anchor="middle")
    x = middle - (sum(chip_width(line) + 4 for line in element.lines) - 4) / 2
    for line in element.lines:
        fill, stroke = _GRADIENTS if line == "gradients" else _CHIP
        yield _rect(x, box.y + 42, chip_width(line), 18, fill, stroke, radius=9)
        yield _text(line, x + chip_width(line) / 2, box.y + 55, anchor="middle")
        x += chip_width(line) + 4


def _bar(box: Box, stroke: str) -> str:
    """The title bar of an open component: its inlets lead to the upper edge, and on from the lower one."""
    x, y, right, low = box.x, box.y, box.x + box.width, box.y + HEADER
    path = f"M{_pair((x, low))} V{_number(y + 8)} Q{_pair((x, y))} {_pair((x + 8, y))} H{_number(right - 8)} "
    path += f"Q{_pair((right, y))} {_pair((right, y + 8))} V{_number(low)} Z"
    return f'<path d="{path}" fill="{stroke}" fill-opacity="0.22"/>'


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
    """An arrow head, or a dot where the wire goes on behind a border."""
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


# The legend: only what occurs.


def _legend(scene: Scene, picture: Picture) -> Iterator[str]:
    elements = [box.element for box in picture.boxes]
    x, y = PADDING + 2, picture.height + 4
    for shown, text, swatch in (
        (
            any(e.host and e.kind == COMPONENT for e in elements),
            "host component (NumPy)",
            _rect_swatch(*_HOST),
        ),
        (any(e.frozen for e in elements), "not trainable", _rect_swatch(_LEVELS[1], _BORDER, dashed=True)),
        (any(r.wire.variables for r in picture.routes), "variables", _line_swatch(INK, dashed=True)),
        (
            any(len(r.wire.methods) > 1 for r in picture.routes),
            "used by several API methods",
            _line_swatch(SHARED),
        ),
    ):
        if shown:
            yield f'<g transform="translate({_number(x)} {_number(y)})">{swatch}</g>'
            yield _text(text, x + 26, y + 11, fill=FAINT)
            x += 26 + text_width(text, SMALL) + 22


def _rect_swatch(fill: str, stroke: str, dashed: bool = False) -> str:
    return _rect(0, 1, 20, 12, fill, stroke, radius=3, dashed=dashed)


def _line_swatch(colour: str, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M0 7 L20 7" stroke="{colour}" stroke-width="1.5"{dash}/>'


# Primitives.


def _rect(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    stroke: str,
    *,
    radius: float,
    dashed: bool = False,
) -> str:
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
        f'rx="{_number(radius)}" fill="{fill}" stroke="{stroke}"{dash}/>'
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
