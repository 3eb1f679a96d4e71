"""`draw`: a component graph, built or not, as SVG, PNG, text or Mermaid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.graph.assembly import assemble
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.devices import resolve_devices
from rlgraph.core.graph.failure import Failure
from rlgraph.core.graph.passes.contraction import contract
from rlgraph.core.graph.pipeline import make_plan
from rlgraph.core.graph.plan import Plan
from rlgraph.draw.dot import to_dot
from rlgraph.draw.geometry import Picture
from rlgraph.draw.graph_view import View
from rlgraph.draw.layout import lay_out
from rlgraph.draw.raster import to_png
from rlgraph.draw.scene import Scene
from rlgraph.draw.scene_extraction import extract
from rlgraph.draw.single_component import cut
from rlgraph.draw.svg import svg_size, to_svg
from rlgraph.draw.text import to_mermaid, to_text

#: The page on which a drawing of the default depth fits, and its sides in pixels, upright or across.
PAGE, PAGE_SIDES = "an A4 page at 300 dots per inch", (2480, 3508)
#: Pixels per unit of a PNG; and the least at which a page is legible: letters of about 4 points.
SCALE, LEGIBLE = 2.0, 1.4


class Drawing:
    """A laid-out component graph.

    Attributes:
        scene: its content.
        folded: a component that is drawn closed -> the number of components inside it.
        levels: the depth that draws everything.
        on_a_page: whether a PNG is at most a page: the depth was chosen so that it is legible there.
    """

    def __init__(
        self, scene: Scene, folded: Mapping[str, int] | None = None, levels: int = 1, on_a_page: bool = False
    ):
        self.scene, self.folded, self.levels, self.on_a_page = scene, folded or {}, levels, on_a_page
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

    @property
    def page_scale(self) -> float:
        """The pixels per unit at which the drawing just fits on a page; sizes are rounded up to whole pixels."""
        sizes = sorted(svg_size(self.scene, self.picture))
        return min((side - 1) / size for side, size in zip(PAGE_SIDES, sizes, strict=True))

    def png(self, path: str | Path, *, scale: float | None = None) -> Path:
        """Write a PNG of `scale` pixels per unit; default: 2, or fewer if the depth is the default, to fit a page.

        Raises:
            RLGraphError: the ``draw`` extra is not installed.
        """
        if scale is None:
            scale = min(SCALE, self.page_scale) if self.on_a_page else SCALE
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
            their contents. Default: the most levels that are legible on an A4 page; `Drawing.folded` has the rest.
        method: only the parts that this API method of the root reaches; default: all methods in one drawing.

    Raises:
        RLGraphError: the component or API method is unknown, `depth` is below 1, or `graph` cannot be drawn.
    """
    component_graph, built, failure = _subject(graph)
    known = failure or built
    if method is not None:
        check_method(component_graph, method)
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise RLGraphError(f"depth: expected an integer >= 1 or None, given {depth!r}")
    if scope is not None and scope not in component_graph.components:
        raise RLGraphError(
            f"{component_graph.root} has no component {scope!r}. {nearest(scope, component_graph.components)}"
        )
    alone = scope if scope != component_graph.root else None
    above = 0 if alone is None else alone.count("/") + 1
    whole = View(
        component_graph,
        known.values if known else None,
        built.devices if built else resolve_devices(component_graph),
        sorted(component_graph.methods) if method is None else [method],
        len(component_graph.components),
        union=method is None,
        scope=alone,
        marked_nodes=failure.nodes & component_graph.nodes.keys() if failure else frozenset(),
        marked_scopes=failure.scopes if failure else frozenset(),
    )
    inside = [s for s in whole.shown if alone is None or f"{s}/".startswith(f"{alone}/")]
    levels = max(1, *(len(whole.ancestors(s)) - 1 - above for s in inside))
    # Deeper drawings are larger: the last one that is legible on a page.
    depths = range(1, levels + 1) if depth is None else [depth]
    views = (replace(whole, depth=above + each) for each in depths)
    drawings = (_drawing(view, inside, levels, depth is None) for view in views)
    drawing = next(drawings)
    for larger in drawings:
        if larger.page_scale < LEGIBLE:
            break
        drawing = larger
    return drawing


def _drawing(view: View, inside: Sequence[str], levels: int, on_a_page: bool) -> Drawing:
    scene = extract(view)
    folded = {
        scope: number
        for scope in inside
        if scope in view.shown and scope not in view.opened
        if (number := sum(other.startswith(f"{scope}/") for other in inside))
    }
    return Drawing(scene if view.scope is None else cut(scene, view, view.scope), folded, levels, on_a_page)


def _subject(graph: Any) -> tuple[ComponentGraph, BuiltGraph | None, Failure | None]:
    """The contracted graph to draw, its build, and its failure."""
    failure = getattr(graph, "failure", None)
    if isinstance(graph, BaseException) and failure is not None:
        return contract(failure.graph), None, failure
    return *contracted_graph(graph), None


def plan_of(built: Any, method: str) -> Plan:
    """The plan of an API method of a build or executor.

    Raises:
        RLGraphError: the graph is not built, or the method is unknown.
    """
    graph, build = contracted_graph(built)
    if build is None:
        raise RLGraphError(
            f"a plan needs a build, and {graph.root} has none: pass a BuiltGraph or a graph executor"
        )
    check_method(graph, method)
    return make_plan(build, method)


def check_method(graph: ComponentGraph, method: str) -> None:
    """Raise `RLGraphError` if the root has no such API method."""
    if method not in graph.methods:
        raise RLGraphError(f"{graph.root} has no API method {method!r}. {nearest(method, graph.methods)}")


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
