"""The commands ``config ...`` for documents of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rlgraph.cli.command import command
from rlgraph.cli.exit_codes import ExitCode
from rlgraph.cli.options import OverridesOption, names_of, parsed_spec
from rlgraph.cli.output import Terminal, output
from rlgraph.core import SpecError
from rlgraph.core.specs.documents import dump_yaml

PANEL = "Train"
#: The file name of the schema in the first line of a template.
SCHEMA_FILE = "run.schema.json"
#: Said where the environment is not made.
UNCHECKED = "the environment was not made; train, or --make-environment, checks the agent against its Spaces"

MakeEnvironmentOption = Annotated[
    bool,
    typer.Option(
        "--make-environment",
        help="Make the environment, to check the agent against its Spaces and to complete defaults by them.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(help="Create, check and print the document of a run.", no_args_is_help=True)
    command(group, "", json=True, specs=True)(init)
    for function in (show, validate):
        command(group, "", json=True, specs=True, connects=True)(function)
    command(group, "", json=True)(schema)
    app.add_typer(group, name="config", rich_help_panel=PANEL)


def init(
    file: Annotated[Path, typer.Argument(help="The document to write, a .yaml.")] = Path("run.yaml"),
    agent: Annotated[
        str, typer.Option(help="A registered agent.", autocompletion=names_of("rlgraph.agents"))
    ] = "dqn",
    env: Annotated[
        str,
        typer.Option(
            help="A Gymnasium id, a registered environment, or its spec as JSON.",
            autocompletion=names_of("rlgraph.environments"),
        ),
    ] = "CartPole-v1",
    steps: Annotated[
        int | None, typer.Option(help="Environment steps; default: those of the preset, else 50,000.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write a commented document, and next to it the JSON Schema for editors."""
    from rlgraph.runs.schema import run_schema
    from rlgraph.runs.template import config_template

    schema_file = file.parent / SCHEMA_FILE
    if file.suffix not in (".yaml", ".yml"):
        raise SpecError("expected the name of a .yaml, which can hold comments", path=str(file))
    if file.exists() and not force:
        raise SpecError(f"{file} exists already; give another name, or --force to replace it")
    text = config_template(agent, parsed_spec(env, "environment"), steps)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    schema_file.write_text(json.dumps(run_schema(), indent=2) + "\n", encoding="utf-8")
    output.result(
        f"{file} and {schema_file} are written; rlgraph train {file} trains",
        {"document": file, "schema": schema_file},
    )


def show(
    config: Annotated[Path, typer.Argument(help="A run's document: .yaml, .json or .toml.")],
    overrides: OverridesOption = None,
    make_environment: MakeEnvironmentOption = False,
) -> None:
    """Check a document and print it with all defaults."""
    from rlgraph.runs.configuration import apply_overrides, read_document, resolve

    only_read = not make_environment
    document = resolve(apply_overrides(read_document(config), overrides or (), only_read), only_read)
    if only_read:
        _note(f"{UNCHECKED}; defaults that depend on them are left out")
    output.result(dump_yaml(document), document, wrap=False)


def validate(
    config: Annotated[Path, typer.Argument(help="A run's document: .yaml, .json or .toml.")],
    overrides: OverridesOption = None,
    make_environment: MakeEnvironmentOption = False,
) -> int:
    """Check a document: all faults at once with their places; the exit code is 2 if there are any."""
    from rlgraph.runs.configuration import apply_overrides, check, read_document
    from rlgraph.runs.recorded_run import environment_name

    only_read = not make_environment
    try:
        run = check(apply_overrides(read_document(config), overrides or (), only_read), only_read)
    except SpecError as error:
        if not output.json:
            raise
        faults = [{"path": fault.path, "text": fault.text} for fault in error.faults]
        output.result("", {"document": config, "valid": False, "faults": faults})
        return ExitCode.BAD_INPUT
    what = f"{run.agent.get('type')} in {environment_name(run.environment)}, {run.steps:,} steps"
    if only_read:
        _note(UNCHECKED)
    output.result(f"{config} is valid: {what}", {"document": config, "valid": True, "faults": []})
    return ExitCode.DONE


def _note(text: str) -> None:
    """A line beside the results, which may be piped into a file."""
    Terminal(stderr=True).print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)


def schema(
    agent: Annotated[
        bool, typer.Option("--agent", help="The schema of an agent's spec instead of a run's document.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
) -> None:
    """Print the JSON Schema of a run's document, including all plug-ins."""
    from rlgraph.runs.schema import agent_schema, run_schema

    found = agent_schema() if agent else run_schema()
    text = json.dumps(found, indent=2)
    if file is None:
        output.result(text, found, wrap=False)
        return
    file.write_text(text + "\n", encoding="utf-8")
    output.result(f"{file} is written", {"schema": file})
