"""Colours of API methods, devices and kinds of boxes."""

from __future__ import annotations

from rlgraph.draw.scene import COMPONENT, ENTRY, EXIT, GRADIENTS, REGION, Element, Scene

INK, FAINT, SHARED = "#1f2933", "#66727f", "#5c6773"
#: Wires, inputs and outputs of one root API method; wires shared by several are `SHARED`.
METHOD_COLOURS = (
    "#2563eb", "#2b8a3e", "#d9480f", "#9c36b5", "#0b7285", "#c2255c",
    "#846a00", "#5f3dc4", "#8d4b1f", "#0ca678", "#ae3ec9", "#343a40",
)  # fmt: skip
#: Boxes on one device; outer boxes are paler.
DEVICE_COLOURS = ("#2f9e44", "#7048e8", "#1098ad", "#c2255c", "#8d5a2b", "#5c940d", "#364fc7", "#a61e4d")
HOST = ("#fff3dc", "#d8a545")
CHIP = ("#ffffff", "#b4c0cf")
GRADIENT = ("#f0e6fa", "#a57fc9")
FAILURE = ("#ffe3e3", "#e03131")
CONTROL = ("#fbfaff", "#8a7bb5")
LEVELS = ("#ffffff", "#f1f5fa", "#e2eaf5", "#d3dff0", "#c4d4ea")
BORDER = "#93a7c1"


def method_colours(scene: Scene) -> dict[str, str]:
    """Colour by root API method."""
    return {m: METHOD_COLOURS[i % len(METHOD_COLOURS)] for i, m in enumerate(scene.all_methods)}


def device_colours(scene: Scene) -> dict[str, str]:
    """Colour by device."""
    names = sorted({name for e in scene.root.walk() for name in (e.device, e.storage) if name})
    return {name: DEVICE_COLOURS[i % len(DEVICE_COLOURS)] for i, name in enumerate(names)}


def box_colours(element: Element, devices: dict[str, str]) -> tuple[str, str]:
    """Fill and border of an element: failures are red, host functions amber, others have their device's colour."""
    if element.marked:
        return FAILURE
    if element.host:
        return HOST
    if element.kind == GRADIENTS:
        return GRADIENT
    if element.kind in (REGION, ENTRY, EXIT):
        return CONTROL
    if element.kind != COMPONENT:
        return CHIP
    if element.device:
        colour = devices[element.device]
        return tint(colour, 0.06 + 0.06 * min(element.level, 4)), tint(colour, 0.7)
    return LEVELS[min(element.level, len(LEVELS) - 1)], BORDER


def tint(colour: str, share: float) -> str:
    """`colour` blended with white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)
