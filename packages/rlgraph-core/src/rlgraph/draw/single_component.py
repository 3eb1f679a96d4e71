"""Cuts one component out of a scene, with the names of its neighbours at its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rlgraph.core.graph.nodes import references
from rlgraph.draw.graph_view import View, clearer
from rlgraph.draw.scene import INPUT, OUTPUT, Element, End, Scene, Wire
from rlgraph.draw.wires import VARIABLES


def cut(scene: Scene, view: View, scope: str) -> Scene:
    """The component at `scope` as the root; its API methods become inputs and outputs."""
    elements = scene.elements
    root = elements[scope]
    around = [wire for wires in scene.wires.values() for wire in wires if wire.container != scope]
    entering = [wire for wire in around if wire.target.key == scope]
    leaving = [wire for wire in around if wire.source.key == scope]
    inputs, outputs = {}, {}
    for port in dict.fromkeys(wire.target.port for wire in entering):
        wires = [wire for wire in entering if wire.target.port == port]
        origins = _partners("from", (_title(elements, wire.source) for wire in wires))
        inputs[port] = _stub(INPUT, root, port, wires, [*_arguments(view, scope, port), *origins])
    for port in sorted(dict.fromkeys(wire.source.port for wire in leaving), key=VARIABLES.__eq__):
        wires = [wire for wire in leaving if wire.source.port == port]
        carried = filter(None, [scene.labels.get(End(scope, port), "")])
        outputs[port] = _stub(
            OUTPUT,
            root,
            port,
            wires,
            [*carried, *_partners("to", (_title(elements, w.target) for w in wires))],
        )
    root.children = [*inputs.values(), *root.children, *outputs.values()]
    for element in root.walk():
        element.level -= scope.count("/") + 1
    inside = {element.key for element in root.walk()}
    wires_inside = {key: wires for key, wires in scene.wires.items() if key in inside}
    wires_inside[scope] = [_rewired(w, scope, inputs, outputs) for w in wires_inside.get(scope, [])]
    using = {
        method for wire in around if scope in (wire.source.key, wire.target.key) for method in wire.methods
    }
    methods = [method for method in scene.methods if method in using]
    return Scene(root, wires_inside, scene.labels, methods, scene.all_methods)


def _stub(kind: str, root: Element, port: str, wires: Iterable[Wire], lines: Iterable[str]) -> Element:
    methods = {method for wire in wires for method in wire.methods}
    key = f"{root.key}:{kind}:{port}"
    method = methods.pop() if len(methods) == 1 else ""
    return Element(key, kind, port or root.title, lines=tuple(lines), level=root.level + 1, method=method)


def _title(elements: dict[str, Element], end: End) -> str:
    """The title of the other end of a wire around the component."""
    element = elements[end.key]
    return f"{element.title}.{end.port}" if end.port not in ("", VARIABLES) else element.title


def _partners(word: str, names: Iterable[str]) -> list[str]:
    return [f"{word} {name}" for name in sorted(set(names))]


def _arguments(view: View, scope: str, method: str) -> Iterator[str]:
    """The arguments of an API method with their Spaces."""
    shown: dict[str, str] = {}
    reached = {view.graph.methods[m].call for m in view.methods}
    for call in view.graph.calls_of(scope):
        if call.method == method and view.calls_around(call.id)[0].id in reached:
            for name, expression in call.arguments:
                texts = [view.describe(ref) for ref in references(expression)]
                if texts:
                    text = " ".join([name, texts[0] if len(texts) == 1 else f"{len(texts)} tensors"]).rstrip()
                    shown[name] = clearer(text, shown.get(name, text))
    yield from shown.values()


def _rewired(wire: Wire, scope: str, inputs: dict[str, Element], outputs: dict[str, Element]) -> Wire:
    """Redirect a wire at the component's border to the stub of its port."""
    source, target = wire.source, wire.target
    if source.key == scope:
        source = End(inputs[source.port].key)
    if target.key == scope:
        target = End(outputs[target.port].key)
    return replace(wire, source=source, target=target)
