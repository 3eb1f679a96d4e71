"""The directive ``{rlgraph-thumbnail} q_lambda``: the component graph that a page of the gallery tests, as a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from real_output import results_of, saved_image
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class ThumbnailDirective(SphinxDirective):
    """The graph of what a page beside this one calls `test`, a `ComponentTest`, or `agent`; the page is run for it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from rlgraph.draw import draw

        page = Path(self.get_source_info()[0]).parent / f"{self.arguments[0]}.md"
        self.env.note_dependency(str(page))
        values = results_of(page)[-1].values
        drawing = draw(values["test" if "test" in values else "agent"].executor, depth=1)
        alt = f"component graph of {drawing.scene.root.title}"
        return [saved_image(drawing, f"thumbnail-{page.stem}", alt, Path(self.env.srcdir))]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-thumbnail", ThumbnailDirective)
    return {"version": "1", "parallel_read_safe": True}
