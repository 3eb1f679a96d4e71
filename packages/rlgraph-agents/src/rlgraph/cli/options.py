"""Options and arguments of several commands, with shell completion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rlgraph.core import registry
from rlgraph.core.execution_spec import DEFAULT_SEED
from rlgraph.core.specs.documents import parse_json


def names_of(*groups: str) -> Callable[[str], list[str]]:
    """Shell completion of the registered names of groups, without importing them."""
    return lambda incomplete: [
        name for group in groups for name in registry(group).names() if name.startswith(incomplete)
    ]


AgentOption = Annotated[
    str | None,
    typer.Option(
        help="A registered agent, or a file with its spec; default: dqn.",
        autocompletion=names_of("rlgraph.agents"),
    ),
]
EnvOption = Annotated[
    str | None,
    typer.Option(
        help="A Gymnasium id or a registered environment; default: CartPole-v1.",
        autocompletion=names_of("rlgraph.environments"),
    ),
]
BackendOption = Annotated[
    str | None,
    typer.Option(
        help="Backend; default: the only one installed.", autocompletion=names_of("rlgraph.backends")
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option(help="Threads of the backend; default: the agent spec's, else 1.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(help=f"Root of all random numbers; default: the document's, else {DEFAULT_SEED}."),
]
OverridesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the document, e.g. optimizer_spec.learning_rate=1e-3; may be repeated.",
    ),
]
RunArgument = Annotated[Path, typer.Argument(help="A run's folder.", metavar="FOLDER")]


def parsed_spec(text: str, what: str) -> Any:
    """Parse the spec of an agent or environment: a name, or JSON.

    Raises:
        SpecError: invalid JSON.
    """
    if not text.lstrip().startswith("{"):
        return text
    return parse_json(text, what, text)
