"""The ``rlgraph`` command: its subcommands, version and error messages."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Annotated

import typer
from rich.markup import escape

from rlgraph.cli import (
    benchmarking,
    comparing,
    components,
    configuring,
    inspecting,
    listing,
    trained,
    training,
    tuning,
)
from rlgraph.cli.exit_codes import ExitCode, code_of
from rlgraph.cli.output import Terminal, output, printable
from rlgraph.core import RLGraphError
from rlgraph.core.errors import text_of
from rlgraph.core.registry import rlgraph_versions
from rlgraph.spaces import SpaceError

app = typer.Typer(
    help="RLgraph: reinforcement learning on any backend.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for group in (
    training,
    tuning,
    benchmarking,
    configuring,
    trained,
    comparing,
    inspecting,
    listing,
    components,
):
    group.add_to(app)


def main() -> int:
    """Run the command line and return the exit code."""
    output.reset()
    warnings.formatwarning = _as_a_note
    with output.own_streams():
        return _run()


def _run() -> int:
    try:
        result = app(standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitCode.DONE
    except (RLGraphError, SpaceError) as error:
        _show(error)
        return code_of(error)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # the reader closed the pipe, as in `rlgraph plugins | head`
        return ExitCode.DONE
    except MemoryError as error:
        error.add_note("Make batches, the memory's capacity, networks or pictures smaller.")
        _show(error)
        return ExitCode.RUN_FAILED
    except OSError as error:
        if error.filename is None:
            raise
        # A given path that cannot be read or written.
        error.add_note(f"Check {error.filename} or give another path; --debug prints the traceback.")
        _show(error)
        return ExitCode.BAD_INPUT
    except Exception as error:
        # Errors of the command line itself: unknown option, missing value.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        print(_place_of_option(error), end="", file=sys.stderr)
        return int(getattr(error, "exit_code", ExitCode.BAD_INPUT))


def _as_a_note(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning without its source line."""
    return f"{category.__name__}: {printable(str(message))}\n"


def _show(error: Exception) -> None:
    if output.debug:
        traceback.print_exception(error)
        return
    text = "\n".join([text_of(error), *getattr(error, "__notes__", ())])
    message = f"[red]{type(error).__name__}:[/] {escape(text)}"
    Terminal(stderr=True).print(message, highlight=False, soft_wrap=True)


def _place_of_option(error: Exception) -> str:
    """A line that says how a key of the document is given, where it was given as an option, such as ``--lr``."""
    option, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if option is None or context is None or "overrides" not in (p.name for p in context.command.params):
        return ""
    from rlgraph.runs.document_hints import IN_A_RUN

    place = str(IN_A_RUN.get(str(option).lstrip("-").replace("-", "_"), "."))
    if place.endswith("."):
        return "Keys of the document are given by --set, such as --set optimizer_spec.learning_rate=1e-3\n"
    return f"It is a key of the document: --set {place.removeprefix('agent.')}=VALUE\n"


def _print_version(wanted: bool) -> None:
    if wanted:
        for name, version in rlgraph_versions().items():
            typer.echo(f"{name} {version}")
        raise typer.Exit


@app.callback()
def rlgraph(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the versions.")
    ] = False,
) -> None:
    """RLgraph: reinforcement learning on any backend."""


if __name__ == "__main__":
    sys.exit(main())
