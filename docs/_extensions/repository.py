"""The role ``{repository}`` of a file or folder: its path, linked if `repository_address` of the settings is set."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole


class RepositoryRole(SphinxRole):
    """The text of the role is a path from the root of the repository."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        text: nodes.Node = nodes.literal(self.rawtext, self.text)
        address = self.config.repository_address
        if address:
            target = f"{address.rstrip('/')}/tree/main/{self.text}"
            text = nodes.reference(self.rawtext, "", text, refuri=target)
        return [text], []


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("repository_address", "", "env", str)
    app.add_role("repository", RepositoryRole())
    return {"version": "1", "parallel_read_safe": True}
