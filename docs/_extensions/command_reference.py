"""The directive ``{rlgraph-commands}``: every command of the command line, from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, EnumType
from typing import Any, get_args

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def commands_markdown() -> str:
    """All commands and the exit codes, as Markdown."""
    import typer.main

    from rlgraph.cli.exit_codes import ExitCode
    from rlgraph.cli.main import app

    root = typer.main.get_command(app)
    lines = ["## Options of `rlgraph` itself", "", *_parameters(root)]
    for path, command in _leaves(root, "rlgraph"):
        lines += [f"## `{path}`", "", *_command(path, command)]
    lines += ["## Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += [f"| {int(code)} | {code.description} |" for code in ExitCode]
    return "\n".join(lines) + "\n"


def _leaves(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The commands of a group and of the groups in it, with what one types."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _command(path: str, command: Any) -> list[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    words = [_placeholder(argument) for argument in arguments]
    synopsis = " ".join([path, *(word for word in words if word), "[OPTIONS]"])
    text = " ".join((command.help or "").split())
    return ["```text", synopsis, "```", "", text, "", *_parameters(command)]


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _parameters(command: Any) -> list[str]:
    rows = [f"| {_names(p)} | {_meaning(p)} | {_default(p)} |" for p in command.params if p.name != "help"]
    return ["| | | default |", "| --- | --- | --- |", *rows, ""] if rows else []


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _meaning(parameter: Any) -> str:
    listed = (
        f" One of {', '.join(f'`{c.value}`' for c in _choices(parameter))}." if _choices(parameter) else ""
    )
    return " ".join((parameter.help or "").split()).replace("|", "\\|") + listed


def _choices(parameter: Any) -> list[Enum]:
    """What there is to choose from; nothing where anything may be given."""
    annotation = parameter.type_descriptor.annotation
    annotation = (get_args(annotation) or (annotation,))[0]
    return list(annotation) if isinstance(annotation, EnumType) else []


def _default(parameter: Any) -> str:
    default = parameter.default
    if parameter.required or default in (None, (), False) or callable(default):
        return "required" if parameter.required else ""
    return f"`{getattr(default, 'value', default)}`"


class CommandsDirective(SphinxDirective):
    """Every command: what one types, what it does, its arguments and options."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(commands_markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-commands", CommandsDirective)
    return {"version": "1", "parallel_read_safe": True}
