"""How a function becomes a command: with the options that all commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from rlgraph.cli.output import output

Function = TypeVar("Function", bound=Callable[..., Any])

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON; everything else goes to standard error.")
]


def command(app: typer.Typer, panel: str, *, json: bool = False) -> Callable[[Function], Function]:
    """Register a command that also takes ``--quiet``, ``--debug`` and, if it prints results, ``--json``.

    Args:
        app: where it belongs.
        panel: the heading under which ``--help`` lists it; empty: the common one.
        json: it has results that can be printed as JSON.
    """
    options: dict[str, Any] = {"quiet": QuietOption, "debug": DebugOption}
    if json:
        options = {"json": JsonOption, **options}

    def register(function: Function) -> Function:
        @wraps(function)
        def run(**arguments: Any) -> Any:
            for option in options:
                setattr(output, option, arguments.pop(option))
            return function(**arguments)

        own = inspect.signature(function, eval_str=True).parameters.values()
        added = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
            for option, annotation in options.items()
        ]
        parameters = [*own, *added]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(rich_help_panel=panel or None)(run)
        return function

    return register
