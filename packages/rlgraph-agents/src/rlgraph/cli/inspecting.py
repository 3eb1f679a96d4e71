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
from rlgraph.cli.output import Terminal, output
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
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN] METHOD",
            help="A run's folder, if any, and an API method, e.g. act or update_from_memory.",
        ),
    ],
    agent: AgentOption = None,
    env: EnvOption = None,
    outline: Annotated[
        bool, typer.Option("--outline", help="Print a line for each call of a component, in order.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print a full page: plan, Spaces of all values, sources, papers.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option(help="With --full: write a .md, .html or .txt instead of printing.")
    ] = None,
) -> None:
    """Print the plan of an API method, its program at run time, for the agent of a run or another one."""
    from rlgraph.draw import method_page, plan_outline, plan_text

    *folders, method = words
    if len(folders) > 1 or is_run(method):
        raise SpecError(
            f"expected [RUN] METHOD, such as runs/one update, given {' '.join(words)}", path="plan"
        )
    if file is not None and not full:
        raise SpecError("--file writes the page of --full: give both")
    if outline and full:
        raise SpecError("expected one of --outline and --full", path="plan")
    executor = numpy_agent(agent, env, *map(Path, folders)).executor
    if not full:
        text = plan_outline if outline else plan_text
        output.result(text(executor, method), None, wrap=False)
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
    run: Annotated[
        Path | None, typer.Argument(help="A run's folder; default: --agent in --env.", metavar="[RUN]")
    ] = None,
    agent: AgentOption = None,
    env: EnvOption = None,
    scope: Annotated[str | None, typer.Option(help="Only this component, e.g. policy/network.")] = None,
    depth: Annotated[
        int | None, typer.Option(help="Maximum depth of shown components; default: what fits an A4 page.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Only the components that this API method uses.")] = None,
    form: Annotated[Form, typer.Option("--format", help="Format of the output.")] = Form.TEXT,
    file: Annotated[
        Path | None, typer.Option(help="Write an .svg, .png, .dot, .mmd or .txt instead of printing.")
    ] = None,
) -> None:
    """Draw the component graph of an agent, or a part of it; by default as deep as a page shows legibly."""
    from rlgraph.draw import PAGE, draw

    drawing = draw(numpy_agent(agent, env, run).executor.built, scope=scope, depth=depth, method=method)
    if file is None:
        output.result(getattr(drawing, form)(), None, wrap=False)
    else:
        drawing.save(file)
        output.notes.print(f"wrote {file}", markup=False, soft_wrap=True, highlight=False)
    if depth is None and drawing.folded:
        closed = ", ".join(f"{scope} ({number})" for scope, number in drawing.folded.items())
        note = f"Folded, to fit {PAGE}: the components inside {closed}. --depth {drawing.levels} shows all."
        Terminal(stderr=True, quiet=output.quiet).print(note, markup=False, soft_wrap=True, highlight=False)


def is_run(place: str | Path) -> bool:
    """Whether a folder is that of a run."""
    from rlgraph.runs.config_file import CONFIG

    return (Path(place) / CONFIG).exists()


def numpy_agent(agent: str | None, env: str | None, run: Path | None = None) -> Any:
    """An agent for inspection; its graph and plans are the same on every backend.

    Raises:
        SpecError: there is no such run, or agent or environment are given as well.
    """
    from rlgraph.agents import Agent
    from rlgraph.runs.loading import agent_spec_of_run, for_any_machine

    if run is None:
        spec: Any = for_any_machine(agent_spec(agent or "dqn"))
        environment = parsed_spec(env or "CartPole-v1", "environment")
    elif agent is None and env is None:
        spec, environment = agent_spec_of_run(run)
    else:
        raise SpecError("a run has its agent and environment: leave out --agent and --env", path=str(run))
    return Agent.from_spec(spec, env=environment, backend="numpy")
