"""Commands that list plug-ins: ``agents``, ``environments``, ``check-env``, ``plugins``."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import names_of, parsed_spec
from rlgraph.cli.output import output
from rlgraph.core import PluginError, SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.core.registry import GROUPS
from rlgraph.core.specs.argument_types import expectation

PANEL = "List plug-ins"
#: Level of a finding -> style.
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for function in (agents, environments, check_env, plugins):
        command(app, PANEL, json=True, specs=function is check_env)(function)


def plugins(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="Kind: backends, components, agents, environments or executors.",
            autocompletion=lambda incomplete: [kind for kind in _kinds() if kind.startswith(incomplete)],
        ),
    ] = None,
) -> None:
    """List installed backends, agents, environments and components. Imports no framework."""
    groups = GROUPS if kind is None else {_group(kind): GROUPS[_group(kind)]}
    found = [(each, plugin) for group, each in groups.items() for plugin in registry(group).plugins()]
    parts: list[RenderableType] = []
    for (each, origin), members in groupby(found, key=lambda item: (item[0], item[1].origin)):
        table = rows()
        shown = [plugin for _, plugin in members]
        room = output.width - max(len(plugin.name) for plugin in shown) - 4
        for plugin in shown:
            table.add_row(plugin.name, Text(folded(plugin.target, room), style="dim"))
        parts += [Text.assemble((f"{each}s", "bold"), " of ", origin), Padding(table, (0, 0, 1, 2))]
    data = [
        {
            "kind": each,
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "target": plugin.target,
        }
        for each, plugin in found
    ]
    output.result(Group(*parts), data)


def agents(
    name: Annotated[
        str | None,
        typer.Argument(help="Show the options of this one.", autocompletion=names_of("rlgraph.agents")),
    ] = None,
) -> None:
    """List installed agents, or show the options of one."""
    _list_or_show("rlgraph.agents", name)


def environments(
    name: Annotated[
        str | None,
        typer.Argument(help="Show the options of this one.", autocompletion=names_of("rlgraph.environments")),
    ] = None,
    gymnasium: Annotated[
        bool, typer.Option("--gymnasium", help="List the ids registered with Gymnasium instead.")
    ] = False,
) -> None:
    """List installed environments, or show the options of one."""
    if gymnasium:
        import gymnasium as gym

        ids = sorted(gym.registry)
        output.result("\n".join(ids), ids)
    else:
        _list_or_show("rlgraph.environments", name)


def check_env(
    env: Annotated[
        str,
        typer.Argument(
            help="A Gymnasium id, a registered environment, or its spec as JSON.",
            autocompletion=names_of("rlgraph.environments"),
        ),
    ],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes played with random actions.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the environment and the actions.")] = 1,
) -> int:
    """Check an environment; the exit code is 3 if it breaks the contract."""
    from rlgraph.environments import check_environment

    with output.status(f"playing {episodes} episodes of {env}"):
        findings = check_environment(parsed_spec(env, "environment"), episodes=episodes, seed=seed)
    broken = any(finding.level == "error" for finding in findings)
    table = rows()
    for finding in findings:
        table.add_row(
            Text(finding.level, style=STYLES.get(finding.level, "")), finding.check, Text(finding.message)
        )
    verdict = Text(
        "breaks the contract" if broken else "keeps the contract", style="bold red" if broken else "bold"
    )
    data = {"environment": env, "passed": not broken, "findings": list(map(asdict, findings))}
    output.result(Group(table, Text.assemble(f"{env} ", verdict)), data)
    return ExitCode.RUN_FAILED if broken else ExitCode.DONE


def _kinds() -> dict[str, str]:
    """Plural kind, such as ``"backends"`` -> its group."""
    return {f"{kind}s": group for group, kind in GROUPS.items()}


def _group(kind: str) -> str:
    """The group of a kind of plug-in, which may be given in the singular.

    Raises:
        SpecError: unknown kind.
    """
    known = _kinds()
    name = kind.lower().removesuffix("s") + "s"
    if name not in known:
        raise SpecError(f"unknown kind of plug-in {kind!r}. {nearest(name, known)}")
    return known[name]


def _list_or_show(group: str, name: str | None) -> None:
    known = registry(group)
    if name is not None:
        _show(known.kind, name, known.load(name))
        return
    table, data = rows(), []
    for plugin in known.plugins():
        try:
            summary = _summary(known.load(plugin.name))
        except PluginError as error:
            summary = str(error)
        table.add_row(plugin.name, Text(summary), Text(plugin.origin, style="dim"))
        data.append({"name": plugin.name, "summary": summary, "origin": plugin.origin})
    output.result(table, data)


def _show(kind: str, name: str, target: Any) -> None:
    table, data = rows(), {}
    for key, parameter in _parameters(target).items():
        required = parameter.default is inspect.Parameter.empty
        default = "required" if required else repr(parameter.default)
        table.add_row(key, Text(_annotation(parameter), style="dim"), Text(default))
        data[key] = {
            "type": _annotation(parameter),
            "required": required,
            "default": None if required else parameter.default,
        }
    heading = Text.assemble((f"{kind} {name}", "bold"), "\n", _summary(target), "\n")
    place = f"{target.__module__}.{target.__qualname__}"
    human = Group(heading, table)
    output.result(human, {"name": name, "class": place, "summary": _summary(target), "options": data})


def _parameters(target: Any) -> dict[str, inspect.Parameter]:
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    function = target.__init__ if inspect.isclass(target) else target
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in variable and name != "self"
    }


def _annotation(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else expectation(annotation)


def _summary(target: Any) -> str:
    """The first paragraph of its docstring."""
    return " ".join(inspect.cleandoc(target.__doc__ or "").split("\n\n")[0].split())


def folded(target: str, width: int) -> str:
    """``package.module:attribute`` in lines of at most `width`, broken after dots and the colon.

    Longer parts are broken after underscores or before capitals.
    """
    lines = [""]
    for part in re.findall(r"[^.:]+[.:]?", target):
        pieces = [part] if len(part) <= width else re.findall(r"[A-Z]?[^_A-Z]+_?", part)
        for piece in pieces:
            if lines[-1] and len(lines[-1]) + len(piece) > width:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def rows() -> Table:
    """A table without borders, which uses the full width."""
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
