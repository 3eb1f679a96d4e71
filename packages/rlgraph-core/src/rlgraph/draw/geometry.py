"""Boxes, labels and paths with their positions, and the sizes of elements without visible parts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rlgraph.draw.scene import COMPONENT, ENTRY, EXIT, FUNCTION, GRADIENTS, REGION, Element, Wire
from rlgraph.draw.text_metrics import text_width

TITLE, SMALL = 13.0, 11.0
LINE = 15.0
PADDING = 14.0
HEADER = 42.0
STRIP = 17.0
BESIDE = 5.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """An element with its position; `y` grows downwards. `parent` is the key of the element around it."""

    element: Element
    x: float
    y: float
    width: float
    height: float
    parent: str = ""


@dataclass(frozen=True)
class Label:
    """A text beside a wire; `y` is its base line. `kind` is ``method`` or ``space``."""

    text: str
    x: float
    y: float
    kind: str


@dataclass(frozen=True)
class Route:
    """The path of a wire; with `arrow` it enters a box, else it ends at the border of its container."""

    wire: Wire
    points: tuple[Point, ...]
    arrow: bool


@dataclass
class Picture:
    """All boxes, labels and routes, parents before children."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


@dataclass(frozen=True)
class Port:
    """A point at `x` on a border where wires meet it, with its label."""

    x: float
    label: str = ""

    @property
    def right(self) -> float:
        """The right end of the text."""
        return self.x + label_width(self.label)


@dataclass
class Block:
    """A laid-out element with its upper left corner at the origin.

    Attributes:
        element: the element.
        width, height: of its box.
        inlets, outlets: ports of the upper and the lower border.
        inside: the contents of the box.
    """

    element: Element
    width: float
    height: float
    inlets: dict[str, Port]
    outlets: dict[str, Port]
    inside: Picture

    @property
    def extent(self) -> float:
        """The width including overhanging labels."""
        return max([self.width, *(port.right for port in (*self.inlets.values(), *self.outlets.values()))])

    def paste(self, picture: Picture, x: float, y: float, parent: str) -> None:
        """Put the box and everything in it into `picture`."""
        picture.boxes.append(Box(self.element, x, y, self.width, self.height, parent))
        inside = self.inside
        picture.boxes.extend(replace(box, x=box.x + x, y=box.y + y) for box in inside.boxes)
        picture.labels.extend(replace(label, x=label.x + x, y=label.y + y) for label in inside.labels)
        for route in inside.routes:
            picture.routes.append(replace(route, points=tuple((px + x, py + y) for px, py in route.points)))


def label_width(text: str) -> float:
    """The width of a label to the right of a wire."""
    return text_width(text, SMALL) + 3 * BESIDE if text else BESIDE


def title_width(element: Element) -> float:
    """The width of a component's name, class and variables sign."""
    sign = 24.0 if element.stateful else 0.0
    return max(text_width(element.title, TITLE, bold=True) + sign, text_width(element.subtitle, SMALL))


def chip_width(text: str) -> float:
    """The width of a small label for a graph function."""
    return text_width(text, SMALL) + 16


def leaf_size(element: Element) -> tuple[float, float]:
    """Width and height of an element without visible parts."""
    if element.kind in (FUNCTION, GRADIENTS, ENTRY, EXIT):
        return chip_width(element.title) + 4, 22.0
    if element.kind in (COMPONENT, REGION):
        chips = sum(chip_width(line) + 4 for line in element.lines) - 4
        return max(title_width(element), chips) + 2 * PADDING - 4, HEADER + (26 if element.lines else 0)
    widths = [
        text_width(element.title, TITLE, bold=True),
        *(text_width(line, SMALL) for line in element.lines),
    ]
    return max(widths) + 20, 26 + LINE * len(element.lines)
