"""The command ``compare``, which aggregates runs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rlgraph.cli.command import command
from rlgraph.cli.output import Terminal, output
from rlgraph.core import SpecError

if TYPE_CHECKING:
    from rlgraph.runs.compare import Comparison


class Field(StrEnum):
    """Fields that define groups of runs."""

    LABEL, AGENT, ENVIRONMENT, BACKEND, SEED = "label", "agent", "environment", "backend", "seed"
    CONFIGURATION = "configuration"


PANEL = "Use trained agents"
EXTREMES = ("mean", "min", "max")
TITLES = {"configuration": "differs in"}


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app, PANEL, json=True)(compare)


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Folders of runs, or folders with runs below them; LABEL=FOLDER labels them, * matches any text.",
            metavar="RUN...",
        ),
    ],
    metric: Annotated[str, typer.Option(help="The column of metrics.csv.")] = "evaluation_return",
    by: Annotated[
        list[Field] | None,
        typer.Option(
            help="Field that defines groups; may be repeated. Default: label, environment and configuration."
        ),
    ] = None,
    normalize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENV=LOW,HIGH",
            help="The returns of an environment that become 0 and 1; needed to pool environments.",
        ),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", "-o", help="Draw the curves: a .png, .svg or .pdf.")
    ] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the curves as a table.")] = None,
) -> None:
    """Aggregate runs: interquartile mean with its stratified bootstrap 95 % interval (Agarwal et al., 2021)."""
    from rlgraph.runs.compare import GROUPED_BY, read_runs
    from rlgraph.runs.compare import compare as aggregate

    scales = dict(map(_scale, normalize or ()))
    with output.status("reading the runs"):
        fields = tuple(map(str, by)) if by else GROUPED_BY
        comparison = aggregate(read_runs(runs), metric=metric, by=fields, normalize=scales)
    if picture is not None:
        _draw(comparison, picture)
    if csv_file is not None:
        _write_table(comparison, csv_file)
    output.result(_report(comparison), comparison.as_dict())
    for caution in comparison.cautions:
        output.notes.print(f"[yellow]caution:[/] {escape(caution)}", highlight=False)
    for file in (picture, csv_file):
        if file is not None:
            output.notes.print(f"wrote {file}", markup=False, soft_wrap=True, highlight=False)


def _report(comparison: Comparison) -> RenderableType:
    """A table, without mean and extremes if it is too wide; else lines, in which no number is broken."""
    boundless, title = Terminal(width=10_000), f"{comparison.metric} at the last common step"
    for extremes in (EXTREMES, ()):
        table = _table(comparison, extremes, title)
        if boundless.measure(table).maximum <= output.width:
            return table
    return "\n".join([title, *_lines(comparison)])


def _table(comparison: Comparison, extremes: Sequence[str], title: str) -> Table:
    keys = [key for key in comparison.groups[0].key if any(group.key[key] for group in comparison.groups)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, title=title, title_justify="left")
    for key in keys:
        table.add_column(TITLES.get(key, key), no_wrap=True)
    for name in ("runs", "steps", "IQM", "95 % interval", *extremes):
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.rows():
        number = _number(row)
        table.add_row(
            *(escape(row[key].replace(", ", "\n")) for key in keys),
            str(row["runs"]),
            f"{row['steps']:,}",
            f"[bold]{number(row['iqm'])}[/]",
            _interval(row),
            *(number(row[name]) for name in extremes),
        )
    return table


def _lines(comparison: Comparison) -> Iterator[str]:
    """Three lines per group: its name and its numbers."""
    for group, row in zip(comparison.groups, comparison.rows(), strict=True):
        number, runs = _number(row), f"{row['runs']} run" + "s" * (row["runs"] > 1)
        extremes = ", ".join(f"{name} {number(row[name])}" for name in EXTREMES)
        yield from ("", group.name)
        yield f"  IQM {number(row['iqm'])}, 95 % interval: {_interval(row)}"
        yield f"  {runs}, {row['steps']:,} steps, {extremes}"


def _interval(row: dict[str, Any]) -> str:
    number = _number(row)
    return f"{number(row['low'])} .. {number(row['high'])}" if row["runs"] > 1 else "one run"


def _number(row: dict[str, Any]) -> Any:
    """A format with as many digits as the numbers of the row need."""
    digits = 1 if max(abs(row["low"]), abs(row["high"]), abs(row["iqm"])) >= 10 else 3
    return lambda value: f"{value:.{digits}f}"


def _scale(text: str) -> tuple[str, tuple[float, float]]:
    name, _, ends = text.rpartition("=")
    try:
        low, high = map(float, ends.split(","))
    except ValueError:
        raise SpecError(
            f"expected ENV=LOW,HIGH such as CartPole-v1=0,500, given {text!r}", path="--normalize"
        ) from None
    if not name or low == high or not isfinite(high - low):
        raise SpecError(
            f"expected ENV=LOW,HIGH with two different finite returns, given {text!r}", path="--normalize"
        )
    return name, (low, high)


def _draw(comparison: Comparison, file: Path) -> None:
    from rlgraph.runs.comparison_picture import draw_comparison

    if file.suffix not in (".png", ".svg", ".pdf"):
        raise SpecError(f"a picture is a .png, .svg or .pdf, given {file.name!r}", path="--picture")
    file.parent.mkdir(parents=True, exist_ok=True)
    draw_comparison(comparison, file)


def _write_table(comparison: Comparison, file: Path) -> None:
    rows = comparison.curve_rows()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as lines:
        table = csv.DictWriter(lines, rows[0])
        table.writeheader()
        table.writerows({key: _as_text(cell) for key, cell in row.items()} for row in rows)


def _as_text(cell: Any) -> Any:
    """`cell`, with an apostrophe in front of a text that a spreadsheet would compute."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
