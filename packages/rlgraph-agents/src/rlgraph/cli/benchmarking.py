"""The command ``benchmark``, which runs suites and writes tables of their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import names_of
from rlgraph.cli.output import output

if TYPE_CHECKING:
    from rlgraph.runs.benchmarks.results import State
    from rlgraph.runs.benchmarks.running import Ended
    from rlgraph.runs.benchmarks.suite import Suite

PANEL = "Train"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, PANEL, json=True, specs=True, connects=True)(benchmark)


def _suites(incomplete: str) -> list[str]:
    from rlgraph.runs.benchmarks.suite import suite_names

    return [name for name in suite_names() if name.startswith(incomplete)]


def benchmark(
    suite: Annotated[
        str, typer.Argument(help="A suite: the name of a shipped one, or a file.", autocompletion=_suites)
    ],
    folder: Annotated[Path, typer.Option(help="Of the results; several suites may share it.")] = Path(
        "benchmarks"
    ),
    seeds: Annotated[
        list[int] | None, typer.Option("--seeds", help="Only this seed; may be repeated.")
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(help="Only this backend; may be repeated.", autocompletion=names_of("rlgraph.backends")),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    device: Annotated[
        str | None, typer.Option(help="Where agents compute, e.g. cuda:0; default: where documents say.")
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Run nothing: say what is missing, and what is stale.")
    ] = False,
    report: Annotated[bool, typer.Option("--report", help="Run nothing: write the page.")] = False,
) -> int:
    """Run what is missing of a suite, and write a page with tables and curves of all its results."""
    from rlgraph.runs.benchmarks.report import write_page
    from rlgraph.runs.benchmarks.results import State
    from rlgraph.runs.benchmarks.running import run_missing
    from rlgraph.runs.benchmarks.suite import read_suite

    whole = read_suite(suite)
    chosen = whole.only(seeds or (), backend or ())
    if list_only:
        state = State(chosen, folder)
        output.result(_listing(chosen, state), _data(folder, state), wrap=False)
        return ExitCode.DONE
    failed = [] if report else run_missing(chosen, folder, workers=workers, device=device, progress=_say)
    page = write_page(whole, folder)
    output.result(f"wrote {page}", {**_data(folder, State(chosen, folder)), "page": page}, wrap=False)
    return ExitCode.RUN_FAILED if failed else ExitCode.DONE


def _say(ended: Ended) -> None:
    what, result = f"{ended.subject.label}, seed {ended.seed}", ended.result
    if result is None:
        said = ended.problem
    elif result.last is None:
        said = f"failed: {result.error}"
    else:
        said = f"{result.last.mean:.1f} +- {result.last.std:.1f}, {result.seconds:.0f} s"
    output.notes.print(escape(f"{what}: {said}; {ended.left} left"), highlight=False, soft_wrap=True)


def _listing(suite: Suite, state: State) -> str:
    from rlgraph.runs.benchmarks.tables import remaining

    done = sum(map(len, state.results.values()))
    lines = [f"{suite.name}: {done} of {done + len(state.missing)} seeds have results.", *remaining(state)]
    return "\n".join(lines)


def _data(folder: Path, state: State) -> dict[str, Any]:
    def named(pairs: Any) -> list[dict[str, Any]]:
        return [{"run": each.name, "backend": each.backend, "seed": seed} for each, seed in pairs]

    done = [result.model_dump() for results in state.results.values() for result in results.values()]
    return {"folder": folder, "missing": named(state.missing), "stale": named(state.stale), "results": done}
