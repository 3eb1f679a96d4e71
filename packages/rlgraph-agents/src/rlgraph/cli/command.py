"""Registers functions as commands, with the options that all commands share."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args

import typer

from rlgraph.cli.output import output
from rlgraph.core import allow_clusters, allow_imports, allow_network, allow_paths, data_specs

#: Of a whole number that is written with an exponent.
MOST_DIGITS = 30

Function = TypeVar("Function", bound=Callable[..., Any])

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
ImportsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-imports",
        metavar="MODULE",
        help="Allow specs to import from, and so run, this module or package; may be repeated. "
        "Default: specs use registered names only.",
    ),
]
PathsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-path",
        metavar="PATH",
        help="Allow environments and wrappers in specs to get this file or folder, as the spec writes it; may be "
        "repeated. Default: they get no paths.",
    ),
]
ClustersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-cluster",
        metavar="ADDRESS",
        help="Allow specs to connect to this address, as they write it; may be repeated. Whoever is there can run "
        "code in this process. Default: specs connect to nothing.",
    ),
]
NetworkOption = Annotated[
    bool,
    typer.Option(
        "--allow-network",
        help="Allow servers that other machines can reach, such as those of distributed TensorFlow, and logging to "
        "Weights & Biases.",
    ),
]
#: What specs may do, by the option that says so, which may be repeated.
_ALLOWING = {"allow_imports": allow_imports, "allow_path": allow_paths, "allow_cluster": allow_clusters}
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON; everything else goes to standard error.")
]


def command(
    app: typer.Typer, panel: str, *, json: bool = False, specs: bool = False, connects: bool = False
) -> Callable[[Function], Function]:
    """Register a command that also takes ``--quiet``, ``--debug``; ``--json`` and what specs may do, if it can.

    All specs that it reads are data (`rlgraph.core.data_specs`).

    Args:
        app: the group of commands.
        panel: its heading in ``--help``; empty: the common one.
        json: the command can print its results as JSON.
        specs: the command makes agents or environments from specs.
        connects: it makes executors, too.
    """
    settings: dict[str, Any] = {"quiet": QuietOption, "debug": DebugOption}
    if json:
        settings = {"json": JsonOption, **settings}
    options = {"allow_imports": ImportsOption, "allow_path": PathsOption, **settings} if specs else settings
    if connects:
        options = {"allow_cluster": ClustersOption, "allow_network": NetworkOption, **options}

    def register(function: Function) -> Function:
        @wraps(function)
        def run(**arguments: Any) -> Any:
            for setting in settings:
                setattr(output, setting, arguments.pop(setting))
            if arguments.get("allow_imports"):
                sys.path.append(os.getcwd())  # installed modules come before files in the working directory
            with ExitStack() as stack:
                if output.json:
                    stack.enter_context(output.results_alone())
                stack.enter_context(output.logs())
                stack.enter_context(data_specs())
                for option, allow in _ALLOWING.items():
                    stack.enter_context(allow(*(arguments.pop(option, None) or ())))
                if arguments.pop("allow_network", False):
                    stack.enter_context(allow_network())
                return function(**arguments)

        own = list(map(_with_whole_numbers, inspect.signature(function, eval_str=True).parameters.values()))
        added = [
            inspect.Parameter(
                option,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if option in _ALLOWING else False,
                annotation=annotation,
            )
            for option, annotation in options.items()
        ]
        parameters = [*own, *added]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(rich_help_panel=panel or None)(run)
        return function

    return register


def _with_whole_numbers(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter of a command; one that is an integer also takes ``1e4``."""
    kind, *infos = get_args(parameter.annotation) or (None,)
    kinds = {kind, *get_args(kind), *(inner for outer in get_args(kind) for inner in get_args(outer))}
    for info in infos if int in kinds else ():
        info.parser, info.metavar = _whole_number(info.min, info.max), "INTEGER"
    return parameter


def _whole_number(least: float | None, most: float | None) -> Callable[[str], int]:
    def parse(given: str | int) -> int:  # the default, too
        text = str(given)
        try:
            number = int(text) if text.lstrip("+-").isdecimal() else Decimal(text)
        except (ValueError, InvalidOperation):
            number = Decimal("nan")
        if isinstance(number, Decimal) and not (
            number.is_finite() and number.adjusted() < MOST_DIGITS and number == number.to_integral_value()
        ):
            raise typer.BadParameter(f"expected a whole number, such as 10000 or 1e4, given {text!r}")
        if (least is not None and number < least) or (most is not None and number > most):
            ends = [f"{word} {end}" for word, end in (("least", least), ("most", most)) if end is not None]
            raise typer.BadParameter(f"expected a whole number of at {' and at '.join(ends)}, given {text!r}")
        return int(number)

    return parse
