"""Commands that show the graph and the plans of an agent: ``graph``, ``plan``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from rlgraph.cli.command import command
from rlgraph.cli.options import AgentOption, EnvOption, parsed_spec
from rlgraph.cli.output import output
from rlgraph.cli.training import agent_spec
from rlgraph.core import SpecError


class Form(StrEnum):
    """Formats of a printed drawing."""

    TEXT, MERMAID, DOT, SVG = "text", "mermaid", "dot", "svg"


PANEL = "Inspect agents"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for function in (graph, plan):
        command(app, PANEL, specs=True)(function)


def plan(
    method: Annotated[str, typer.Argument(help="An API method, e.g. act or update_from_memory.")],
    agent: AgentOption = "dqn",
    env: EnvOption = "CartPole-v1",
    full: Annotated[
        bool, typer.Option("--full", help="Print a full page: plan, Spaces of all values, sources, papers.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option(help="With --full: write a .md, .html or .txt instead of printing.")
    ] = None,
) -> None:
    """Print the plan of an API method, its program at run time."""
    from rlgraph.draw import method_page, plan_text

    if file is not None and not full:
        raise SpecError("--file writes the page of --full: give both")
    executor = numpy_agent(agent, env).executor
    if not full:
        output.result(plan_text(executor, method), None, wrap=False)
        return
    page = method_page(executor, method)
    if file is not None:
        page.save(file)
        output.notes.print(f"wrote {file}", markup=False, soft_wrap=True, highlight=False)
    elif Console().is_terminal:
        output.result(Markdown(page.markdown(), code_theme="ansi_dark"), None)
    else:
        output.result(page.markdown(), None, wrap=False)


def graph(
    agent: AgentOption = "dqn",
    env: EnvOption = "CartPole-v1",
    scope: Annotated[str | None, typer.Option(help="Only this component, e.g. policy/network.")] = None,
    depth: Annotated[int | None, typer.Option(help="Maximum depth of shown components.")] = None,
    method: Annotated[str | None, typer.Option(help="Only the components that this API method uses.")] = None,
    form: Annotated[Form, typer.Option("--format", help="Format of the output.")] = Form.TEXT,
    file: Annotated[
        Path | None, typer.Option(help="Write an .svg, .png, .dot, .mmd or .txt instead of printing.")
    ] = None,
) -> None:
    """Draw the component graph of an agent, or a part of it."""
    from rlgraph.draw import draw

    drawing = draw(numpy_agent(agent, env).executor.built, scope=scope, depth=depth, method=method)
    if file is None:
        output.result(getattr(drawing, form)(), None, wrap=False)
    else:
        drawing.save(file)
        output.notes.print(f"wrote {file}", markup=False, soft_wrap=True, highlight=False)


def numpy_agent(agent: str, env: str) -> Any:
    """An agent for inspection; its graph and plans are the same on every backend."""
    from rlgraph.agents import Agent

    return Agent.from_spec(agent_spec(agent), env=parsed_spec(env, "environment"), backend="numpy", seed=0)
