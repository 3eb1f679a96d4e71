"""The commands ``config ...``: the document that describes a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from rlgraph.cli.command import command
from rlgraph.cli.output import output

PANEL = "Train"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        help="The document that describes a run: check it, write it out.", no_args_is_help=True
    )
    command(group, "", json=True)(show)
    app.add_typer(group, name="config", rich_help_panel=PANEL)


def show(
    config: Annotated[Path, typer.Argument(help="A run's document: .yaml, .json or .toml.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Replace a value of the document; may be repeated."),
    ] = None,
) -> None:
    """Check a document and print it with every default written out."""
    from rlgraph.runs.configuration import apply_overrides, read_document, resolve

    document = resolve(apply_overrides(read_document(config), overrides or ()))
    output.result(yaml.safe_dump(document, sort_keys=False), document, wrap=False)
