"""Commands that list plug-ins: ``agents``, ``environments``, ``check-env``, ``plugins``."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
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
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import names_of, parsed_spec
from rlgraph.cli.output import output
from rlgraph.core import PluginError, SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.core.registry import GROUPS, pip_install
from rlgraph.core.specs.parameters import summary_of

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
            help="Kind: backends, agents, engines, executors, environments or components.",
            autocompletion=lambda incomplete: [kind for kind in _kinds() if kind.startswith(incomplete)],
        ),
    ] = None,
) -> None:
    """List plug-ins of all kinds, or of one, and how to install what is missing. Imports no framework."""
    groups = GROUPS if kind is None else {_group(kind): GROUPS[_group(kind)]}
    found = [(each, plugin) for group, each in groups.items() for plugin in registry(group).plugins()]
    parts: list[RenderableType] = []
    for (each, origin), members in groupby(found, key=lambda item: (item[0], item[1].origin)):
        table = rows()
        shown = [plugin for _, plugin in members]
        room = output.width - max(len(plugin.name) for plugin in shown) - 4
        for plugin in shown:
            target = Text(folded(plugin.target, room), style="dim")
            if plugin.missing:
                target.append(
                    f"\n{', '.join(plugin.missing)} is not installed:\n{plugin.install}", style="yellow"
                )
            table.add_row(plugin.name, target)
        parts += [Text.assemble((f"{each}s", "bold"), " of ", origin), Padding(table, (0, 0, 1, 2))]
    missing = [(each, *item) for group, each in groups.items() for item in _not_installed(group)]
    if missing:
        table = rows()
        for each, names, command_line in missing:
            table.add_row(f"{each}s", ", ".join(names), Text(command_line, style="yellow"))
        parts += [Text("not installed", style="bold"), Padding(table, (0, 0, 1, 2))]
    if missing or any(plugin.missing for _, plugin in found):
        note = "RLgraph is not on PyPI yet: in a clone of it, write packages/ before rlgraph-..."
        parts.append(Text(note, style="dim"))
    data = [
        {
            "kind": each,
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "target": plugin.target,
            "missing": list(plugin.missing),
            "install": plugin.install,
        }
        for each, plugin in found
    ]
    output.result(Group(*parts), data)


def _not_installed(group: str) -> list[tuple[list[str], str]]:
    """Known names of a group that are not installed, and the command that installs them."""
    registered = {plugin.distribution for plugin in registry(group).plugins()}
    known = {
        name: distribution
        for name, distribution in registry(group).not_installed().items()
        if distribution.partition("[")[0] not in registered  # the name is an alias
    }
    return [
        ([name for name in known if known[name] == distribution], pip_install(distribution))
        for distribution in sorted(set(known.values()))
    ]


def agents(
    name: Annotated[
        str | None,
        typer.Argument(help="Show the options of this one.", autocompletion=names_of("rlgraph.agents")),
    ] = None,
) -> None:
    """List installed agents, or show one: options, API methods, papers, presets, a spec."""
    output.result(*(_listed("rlgraph.agents") if name is None else _agent(name)))


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
        output.result(*(_listed("rlgraph.environments") if name is None else _environment(name)))


def check_env(
    env: Annotated[
        str,
        typer.Argument(
            help="A Gymnasium id, a registered environment, or its spec as JSON.",
            autocompletion=names_of("rlgraph.environments"),
        ),
    ],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes played with random actions.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the environment and the actions.")] = DEFAULT_SEED,
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
    name = re.sub("[-_]", " ", kind.lower()).removesuffix("s") + "s"
    if name not in known:
        raise SpecError(f"unknown kind of plug-in {kind!r}. {nearest(name, known)}")
    return known[name]


def _listed(group: str) -> tuple[RenderableType, list[dict[str, str]]]:
    known, table, data = registry(group), rows(), []
    for plugin in known.plugins():
        try:
            summary = summary_of(known.load(plugin.name))
        except PluginError as error:
            summary = str(error)
        table.add_row(plugin.name, Text(summary), Text(plugin.origin, style="dim"))
        data.append({"name": plugin.name, "summary": summary, "origin": plugin.origin})
    return table, data


def _environment(name: str) -> tuple[RenderableType, dict[str, Any]]:
    target = registry("rlgraph.environments").load(name)
    arguments = described_arguments(target)
    data: dict[str, Any] = {
        "name": name,
        "class": f"{target.__module__}.{target.__qualname__}",
        "summary": summary_of(target),
        "options": arguments,
        "spec": example_spec(name, arguments),
    }
    parts = {"options": arguments_table(arguments)}
    return description(f"environment {name}", data["summary"], parts, data["spec"]), data


def _agent(name: str) -> tuple[RenderableType, dict[str, Any]]:
    from rlgraph.agents import Agent
    from rlgraph.algorithms.presets import presets_of
    from rlgraph.learning.agent_options import option_groups

    target: Any = Agent.of(name)
    algorithm, arguments, groups = target.algorithm_class, described_arguments(target), option_groups(target)
    for title, names in groups.items():
        for option in names:
            arguments[option]["group"] = title
    data: dict[str, Any] = {
        "name": name,
        "class": f"{target.__module__}.{target.__qualname__}",
        "summary": summary_of(target),
        "options": arguments,
        **described_class(algorithm, sys.modules[algorithm.__module__].__doc__),
        "presets": [preset.name for preset in presets_of(name)],
        "spec": {"type": name, **_copied(arguments, next(iter(groups.values())))},
    }
    parts = {
        title: arguments_table({key: arguments[key] for key in names}) for title, names in groups.items()
    }
    parts |= {**class_parts(data), "presets": ", ".join(data["presets"])}
    return description(f"agent {name}", data["summary"], parts, data["spec"]), data


def _copied(arguments: dict[str, dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """The options of a spec to copy: those that have a value to change."""
    return {name: arguments[name]["default"] for name in names if arguments[name]["default"] is not None}


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
