"""`draw`: a component graph, built or not, as SVG, PNG, text or Mermaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.graph.assembly import assemble
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.devices import resolve_devices
from rlgraph.core.graph.failure import Failure
from rlgraph.core.graph.passes.contraction import contract
from rlgraph.draw.dot import to_dot
from rlgraph.draw.geometry import Picture
from rlgraph.draw.graph_view import View
from rlgraph.draw.layout import lay_out
from rlgraph.draw.raster import to_png
from rlgraph.draw.scene import Scene
from rlgraph.draw.scene_extraction import extract
from rlgraph.draw.single_component import cut
from rlgraph.draw.svg import to_svg
from rlgraph.draw.text import to_mermaid, to_text

#: The largest number of components shown if `depth` is not given.
MANY = 40


class Drawing:
    """A laid-out component graph: `scene` has the content, `picture` the geometry."""

    def __init__(self, scene: Scene):
        self.scene = scene
        self._picture: Picture | None = None

    @property
    def picture(self) -> Picture:
        """Boxes, wires and labels with their positions."""
        if self._picture is None:
            self._picture = lay_out(self.scene)
        return self._picture

    def svg(self) -> str:
        """The drawing as an SVG document."""
        return to_svg(self.scene, self.picture)

    def text(self) -> str:
        """The drawing as an indented tree, with the data flow below each component."""
        return to_text(self.scene)

    def mermaid(self) -> str:
        """The drawing as a Mermaid flowchart, for pages that render Mermaid."""
        return to_mermaid(self.scene)

    def dot(self) -> str:
        """The drawing in the DOT language, for Graphviz and compatible tools."""
        return to_dot(self.scene)

    def png(self, path: str | Path, *, scale: float = 2.0) -> Path:
        """Write a PNG of `scale` pixels per unit.

        Raises:
            RLGraphError: the ``draw`` extra is not installed.
        """
        data = to_png(self.svg(), scale)
        Path(path).write_bytes(data)
        return Path(path)

    def save(self, path: str | Path) -> Path:
        """Write a file; its suffix selects the format: ``.svg``, ``.png``, ``.dot``, ``.mmd`` (Mermaid) or ``.txt``.

        Raises:
            RLGraphError: the suffix is unknown, or the ``draw`` extra is needed and not installed.
        """
        file = Path(path)
        if file.suffix == ".png":
            return self.png(file)
        writers = {".svg": self.svg, ".dot": self.dot, ".mmd": self.mermaid, ".txt": self.text}
        if file.suffix not in writers:
            known = ", ".join([".png", *writers])
            raise RLGraphError(f"the suffix of a drawing must be one of {known}, given {str(path)!r}")
        file.write_text(writers[file.suffix](), encoding="utf-8")
        return file

    def _repr_svg_(self) -> str:
        return self.svg()


def draw(
    graph: Any, *, scope: str | None = None, depth: int | None = None, method: str | None = None
) -> Drawing:
    """Draw a component graph, or a part of it.

    Args:
        graph: a `BuiltGraph`, a `ComponentGraph`, a graph executor, or an unbuilt root component. After a build the
            drawing has Spaces and parameter counts. For an error of a build or an assembly, the graph known so
            far is drawn, with the failing place marked.
        scope: only this component, e.g. ``policy/network``, with its inputs and outputs; default: all.
        depth: number of nesting levels shown: 1 shows the sub-components of the root (or of `scope`) closed, 2 also
            their contents. Default: the most levels that show no more than a few dozen components.
        method: only the parts that this API method of the root reaches; default: all methods in one drawing.

    Raises:
        RLGraphError: the component or API method is unknown, `depth` is below 1, or `graph` cannot be drawn.
    """
    component_graph, built, failure = _subject(graph)
    known = failure or built
    if method is not None and method not in component_graph.methods:
        raise RLGraphError(
            f"{component_graph.root} has no API method {method!r}. {nearest(method, component_graph.methods)}"
        )
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise RLGraphError(f"depth: expected an integer >= 1 or None, given {depth!r}")
    if scope is not None and scope not in component_graph.components:
        raise RLGraphError(
            f"{component_graph.root} has no component {scope!r}. {nearest(scope, component_graph.components)}"
        )
    alone = scope if scope != component_graph.root else None
    above = 0 if alone is None else alone.count("/") + 1
    view = View(
        component_graph,
        known.values if known else None,
        built.devices if built else resolve_devices(component_graph),
        sorted(component_graph.methods) if method is None else [method],
        above + (depth or _default_depth(component_graph, alone)),
        union=method is None,
        scope=alone,
        marked_nodes=failure.nodes & component_graph.nodes.keys() if failure else frozenset(),
        marked_scopes=failure.scopes if failure else frozenset(),
    )
    scene = extract(view)
    return Drawing(scene if alone is None else cut(scene, view, alone))


def _subject(graph: Any) -> tuple[ComponentGraph, BuiltGraph | None, Failure | None]:
    """The contracted graph to draw, its build, and its failure."""
    failure = getattr(graph, "failure", None)
    if isinstance(graph, BaseException) and failure is not None:
        return contract(failure.graph), None, failure
    return *contracted_graph(graph), None


def contracted_graph(graph: Any) -> tuple[ComponentGraph, BuiltGraph | None]:
    """The contracted graph of a build, executor or component, and its build.

    Raises:
        RLGraphError: `graph` has no graph.
    """
    built = getattr(graph, "built", graph)
    if isinstance(built, BuiltGraph):
        return built.graph, built
    if hasattr(graph, "api_methods") and hasattr(graph, "sub_components"):
        graph = assemble(graph)
    if isinstance(graph, ComponentGraph):
        return contract(graph), None
    raise RLGraphError(
        f"expected a component graph, its build, a graph executor or a component to draw, given {graph!r}"
    )


def _default_depth(graph: ComponentGraph, scope: str | None) -> int:
    """The largest depth below `scope` at which no more than `MANY` components are shown."""
    root = scope or graph.root
    above = 0 if scope is None else scope.count("/") + 1
    levels = sorted(0 if s == root else s.count("/") + 1 - above for s in graph.below(root))
    return max(1, levels[-1] if len(levels) <= MANY else levels[MANY] - 1)
