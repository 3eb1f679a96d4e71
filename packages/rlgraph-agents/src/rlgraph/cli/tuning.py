"""The command ``tune``, which searches for options of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import BackendOption, OverridesOption, ThreadsOption, names_of
from rlgraph.cli.output import output
from rlgraph.cli.training import PANEL, run_document
from rlgraph.core import SpecError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, PANEL, json=True, specs=True, connects=True)(tune)


def tune(
    config: Annotated[
        Path | None, typer.Argument(help="A run's document; what is not searched stays as it says.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="A registered agent; default: the document's.", autocompletion=names_of("rlgraph.agents")
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            help="A Gymnasium id or a registered environment; default: the document's.",
            autocompletion=names_of("rlgraph.environments"),
        ),
    ] = None,
    backend: BackendOption = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Environment steps of a trial; default: the document's, which best.yaml has."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of trials, earlier ones included.")] = 20,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of a trial, from 101 on.")] = 1,
    space: Annotated[
        Path | None,
        typer.Option(help="Where to search: a .yaml or .json file; default: what the algorithm declares."),
    ] = None,
    threads: ThreadsOption = None,
    overrides: OverridesOption = None,
    folder: Annotated[
        Path | None, typer.Option(help="Of the search, which it continues; default: tuning/AGENT-ENV.")
    ] = None,
) -> int:
    """Search for options with which an agent learns well, with Optuna (rlgraph-agents[tune])."""
    from rlgraph.runs.recorded_run import environment_name
    from rlgraph.runs.tuning import BEST
    from rlgraph.runs.tuning import tune as search

    document = run_document(config, agent, env, {"backend": backend}, overrides or (), threads)
    name = f"{document['agent']['type']}-{environment_name(document['environment'])}"
    place = folder or Path("tuning") / name
    found = search(
        document,
        place,
        trials,
        steps=steps,
        space=None if space is None else _read(space),
        seeds=seeds,
        progress=_say,
    )
    if found.best_trial is None:
        output.result(f"no trial of {place} has ended", {"folder": place, "trials": found.trials})
        return ExitCode.INTERRUPTED if found.interrupted else ExitCode.RUN_FAILED
    text = f"best: {_line(found.best_trial)}\n  rlgraph train {place / BEST}"
    output.result(
        text, {"folder": place, "score": found.best_trial["score"], "trials": found.trials}, wrap=False
    )
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.DONE


def _say(trial: Mapping[str, Any]) -> None:
    output.notes.print(escape(_line(trial)), highlight=False)


def _line(trial: Mapping[str, Any]) -> str:
    options = ", ".join(
        f"{path} {x:.3g}" if isinstance(x, float) else f"{path} {x}" for path, x in trial["options"].items()
    )
    state = f"{trial['score']:.4g}" if trial["state"] == "complete" else trial["state"]
    reason = f": {trial['reason']}" if trial["reason"] else ""
    return f"trial {trial['number']}: {state} ({options}){reason}"


def _read(file: Path) -> Mapping[str, Any]:
    from rlgraph.core.specs.documents import read_spec_file

    space = read_spec_file(file, "space")
    if not isinstance(space, dict):
        raise SpecError(f"expected path: range or choices, given {space!r}", path=str(file))
    return space
