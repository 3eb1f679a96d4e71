"""The command ``components``, which lists components and shows their arguments and API methods."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlgraph.cli.command import command
from rlgraph.cli.descriptions import (
    arguments_table,
    class_parts,
    described_arguments,
    described_class,
    description,
    example_spec,
    rows,
)
from rlgraph.cli.listing import PANEL
from rlgraph.cli.options import names_of
from rlgraph.cli.output import output
from rlgraph.core import Component, PluginError, registry
from rlgraph.core.specs.parameters import parameters_of, summary_of
from rlgraph.draw.component_description import kernels_only

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
    arguments = described_arguments(kind, parameters_of(Component).named)
    data = {
        "name": name,
        "names": [plugin.name for plugin in registry(GROUP).plugins() if plugin.target == target] or [name],
        "family": _family(target),
        "class": target.replace(":", "."),
        "summary": summary_of(kind),
        "arguments": arguments,
        **(
            {**described_class(kind), "backends": kernels_only(kind) or "all"}
            if isinstance(kind, type)
            else {}
        ),
        "spec": example_spec(name, arguments),
    }
    backends = data.get("backends", "")
    parts = {
        "arguments": arguments_table(arguments),
        **class_parts(data),
        "backends": backends if isinstance(backends, str) else ", ".join(backends),
    }
    return description(f"component {', '.join(data['names'])}", data["summary"], parts, data["spec"]), data
