"""Descriptions of plug-ins for ``components``, ``agents`` and ``environments``, as data and as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlgraph.core.specs.argument_descriptions import expected_values
from rlgraph.core.specs.parameters import descriptions_of, parameters_of
from rlgraph.draw.component_description import api_methods_of, call_of, papers_of, summary_of_method
from rlgraph.draw.papers import Paper


def rows() -> Table:
    """A table without borders, which uses the full width."""
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))


def described_arguments(kind: Any, without: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The arguments of a constructor: type in words, default, and description in the docstring."""
    texts, left_out = descriptions_of(kind), set(without)
    return {
        name: {
            "type": expected_values(parameter, texts.get(name, "")),
            "required": parameter.default is parameter.empty,
            "default": None if parameter.default is parameter.empty else parameter.default,
            "description": texts.get(name, ""),
        }
        for name, parameter in parameters_of(kind).named.items()
        if name not in left_out
    }


def described_class(kind: Any, also: str | None = None) -> dict[str, Any]:
    """API methods and papers of a class of components; `also` may cite papers too."""
    methods = {
        method.__name__: {"call": call_of(method), "summary": summary_of_method(kind, method.__name__)}
        for method in api_methods_of(kind)
    }
    return {"api_methods": methods, "papers": [vars(paper) for paper in papers_of(kind, also)]}


def example_spec(name: str, arguments: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A spec with all required keys; placeholders are in angle brackets."""
    return {
        "type": name,
        **{key: f"<{entry['type']}>" for key, entry in arguments.items() if entry["required"]},
    }


def arguments_table(arguments: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """`described_arguments` for people."""
    table = rows()
    for name, entry in arguments.items():
        default = "required" if entry["required"] else f"default {entry['default']!r}"
        table.add_row(name, Text.assemble((f"{entry['type']}; {default}", "dim"), "\n", entry["description"]))
    return table if arguments else Text("none of its own")


def class_parts(data: Mapping[str, Any]) -> dict[str, RenderableType]:
    """`described_class` for people."""
    methods = rows()
    for entry in data.get("api_methods", {}).values():
        summary = f"\n  {entry['summary']}" if entry["summary"] else ""
        methods.add_row(Text.assemble(entry["call"], (summary, "dim")))
    papers = "\n".join(str(Paper(**paper)) for paper in data.get("papers", ()))
    return {"API methods": methods if methods.row_count else "", "papers": papers and Text(papers)}


def description(heading: str, summary: str, parts: Mapping[str, RenderableType], spec: Any) -> RenderableType:
    """The whole description; empty parts are left out."""
    lines: list[RenderableType] = [Text.assemble((heading, "bold"), "\n", summary, "\n")]
    for title, part in {**parts, "spec": Text(json.dumps(spec))}.items():
        lines += [Text(title, style="bold"), Padding(part, (0, 0, 1, 2))] if part else []
    return Group(*lines)
