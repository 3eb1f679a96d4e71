"""Pages of source code share their navigation: none of them is in it, so that it is the same on all of one depth.

To make it anew takes a minute for all of them.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

#: Where `sphinx.ext.viewcode` puts them.
FOLDER = "_modules/"


def setup(app: Sphinx) -> dict[str, Any]:
    made: dict[tuple[Any, ...], Any] = {}

    def share(_: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        if not name.startswith(FOLDER):
            return
        make, depth = context["toctree"], name.count("/")

        def toctree(**options: Any) -> Any:
            key = (depth, *sorted(options.items()))
            if key not in made:
                made[key] = make(**options)
            return made[key]

        context["toctree"] = toctree

    app.connect("html-page-context", share, priority=400)  # ahead of the theme, which asks for it
    return {"parallel_read_safe": True, "parallel_write_safe": False}
