"""The command ``components``, which lists components and shows their arguments and API methods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlgraph.cli.command import command
from rlgraph.cli.listing import PANEL, rows
from rlgraph.cli.options import names_of
from rlgraph.cli.output import output
from rlgraph.core import Component, PluginError, registry
from rlgraph.core.specs.argument_descriptions import expected_values
from rlgraph.core.specs.parameters import descriptions_of, parameters_of, summary_of
from rlgraph.draw.component_description import api_methods_of, call_of, kernels_only, papers_of
from rlgraph.draw.papers import Paper

GROUP = Component.registry_group
#: The package prefix of the families of shipped components.
SHIPPED = "rlgraph.components."


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, PANEL, json=True)(components)


def components(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the arguments and API methods of this one.", autocompletion=names_of(GROUP)
        ),
    ] = None,
) -> None:
    """List the components that are installed, by family, or show one: arguments, API methods, papers, a spec."""
    human, data = _list() if name is None else _one(name)
    output.result(human, data)


def _list() -> tuple[RenderableType, Any]:
    names: dict[str, list[str]] = {}
    for plugin in registry(GROUP).plugins():
        names.setdefault(plugin.target, []).append(plugin.name)
    data: list[dict[str, Any]] = [
        {
            "family": _family(target),
            "name": given[0],
            "other_names": given[1:],
            "summary": _summary(given[0]),
        }
        for target, given in sorted(names.items(), key=lambda item: (_family(item[0]), item[1]))
    ]
    parts: list[RenderableType] = []
    for family, members in groupby(data, key=lambda entry: entry["family"]):
        table = rows()
        for entry in members:
            table.add_row(", ".join([entry["name"], *entry["other_names"]]), Text(entry["summary"]))
        parts += [Text(family, style="bold"), Padding(table, (0, 0, 1, 2))]
    return Group(*parts), data


def _summary(name: str) -> str:
    """The first paragraph of its docstring, or why it cannot be imported."""
    try:
        return summary_of(registry(GROUP).load(name))
    except PluginError as error:
        return str(error)


def _family(target: str) -> str:
    """The family of a shipped component, such as ``layers``; the package of others."""
    module = target.partition(":")[0]
    return module.removeprefix(SHIPPED).partition(".")[0]


def _one(name: str) -> tuple[RenderableType, dict[str, Any]]:
    kind = registry(GROUP).load(name)
    target = f"{kind.__module__}:{kind.__qualname__}"
    data = {
        "name": name,
        "names": [plugin.name for plugin in registry(GROUP).plugins() if plugin.target == target] or [name],
        "family": _family(target),
        "class": target.replace(":", "."),
        "summary": summary_of(kind),
        "arguments": dict(_arguments(kind)),
        **(_of_a_class(kind) if isinstance(kind, type) else {}),
        "spec": _spec(name, kind),
    }
    return _shown(data), data


def _of_a_class(kind: Any) -> dict[str, Any]:
    """The part of a description that only classes have."""
    methods = {m.__name__: {"call": call_of(m), "summary": summary_of(m)} for m in api_methods_of(kind)}
    papers = [vars(paper) for paper in papers_of(kind)]
    return {"api_methods": methods, "papers": papers, "backends": kernels_only(kind) or "all"}


def _arguments(kind: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments of the constructor, without those of every component."""
    common, texts = parameters_of(Component).named, descriptions_of(kind)
    for name, parameter in parameters_of(kind).named.items():
        if name not in common:
            required = parameter.default is parameter.empty
            text = texts.get(name, "")
            yield (
                name,
                {
                    "type": expected_values(parameter, text),
                    "required": required,
                    "default": None if required else parameter.default,
                    "description": text,
                },
            )


def _spec(name: str, kind: Any) -> dict[str, Any]:
    """An example spec with all required keys; placeholders are in angle brackets."""
    required = {key: f"<{entry['type']}>" for key, entry in _arguments(kind) if entry["required"]}
    return {"type": name, **required}


def _shown(data: dict[str, Any]) -> RenderableType:
    arguments, methods = rows(), rows()
    for name, entry in data["arguments"].items():
        default = "required" if entry["required"] else f"default {entry['default']!r}"
        arguments.add_row(
            name, Text.assemble((f"{entry['type']}; {default}", "dim"), "\n", entry["description"])
        )
    for entry in data.get("api_methods", {}).values():
        methods.add_row(Text.assemble(entry["call"], "\n", (f"  {entry['summary']}", "dim")))
    papers = "\n".join(str(Paper(**paper)) for paper in data.get("papers", ()))
    backends = data.get("backends", "")
    parts: dict[str, RenderableType] = {
        "arguments": arguments if data["arguments"] else Text("none of its own"),
        "API methods": methods if methods.row_count else "",
        "papers": papers and Text(papers),
        "backends": backends if isinstance(backends, str) else ", ".join(backends),
        "spec": Text(json.dumps(data["spec"])),
    }
    lines: list[RenderableType] = [
        Text.assemble((f"component {', '.join(data['names'])}", "bold"), "\n", data["summary"], "\n")
    ]
    for title, part in parts.items():
        lines += [Text(title, style="bold"), Padding(part, (0, 0, 1, 2))] if part else []
    return Group(*lines)
