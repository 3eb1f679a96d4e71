"""The directive ``{rlgraph-configuration}``: every key of a run's document, from the models that check it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def configuration_markdown() -> str:
    """All sections of a run's document and the `update_spec` of its agent, as Markdown."""
    from rlgraph.agents.specs import UpdateSpec
    from rlgraph.runs.run_spec import RunSpec

    lines: list[str] = []
    for title, model in [*_sections(RunSpec), ("agent.update_spec", UpdateSpec)]:
        heading = f"### `{title}`" if title else "### The document"
        lines += [heading, "", *_table(model), ""]
    return "\n".join(lines)


def _sections(model: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """A model and all in it, with where they stand in the document."""
    from rlgraph.agents.specs import model_of

    yield path, model
    for name, field in model.model_fields.items():
        inner = model_of(field.annotation)
        if inner is not None:
            yield from _sections(inner, f"{path}.{name}" if path else name)


def _table(model: Any) -> list[str]:
    from rlgraph.agents.specs import expected, model_of

    rows = []
    for name, field in model.model_fields.items():
        inner = model_of(field.annotation)
        meaning = field.description or _first_sentence(inner)
        rows.append(
            f"| `{name}` | {_escaped(expected(field))} | {_default(field, inner)} | {_escaped(meaning)} |"
        )
    return [
        _first_sentence(model) + ".",
        "",
        "| key | expected | default | |",
        "| --- | --- | --- | --- |",
        *rows,
    ]


def _default(field: Any, inner: Any) -> str:
    if field.is_required():
        return "(must be given)"
    if inner is not None and field.default is not None:
        return "its defaults"
    return f"`{json.dumps(field.default)}`"


def _first_sentence(model: Any) -> str:
    return " ".join((model.__doc__ or "").split()).partition(". ")[0].rstrip(".").replace("``", "`")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


class ConfigurationDirective(SphinxDirective):
    """One table per section: key, what is expected, default, meaning."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(configuration_markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-configuration", ConfigurationDirective)
    return {"version": "1", "parallel_read_safe": True}
