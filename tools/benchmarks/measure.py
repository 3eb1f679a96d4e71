"""How the benchmarks measure: interleaved rounds, medians, spreads, one table, the versions beside it."""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROUNDS = 7
#: Blocks of calls per round and subject, and the seconds of one block: shorter than what a scheduler gives a process,
#: so that a block is disturbed as a whole or not at all.
BLOCKS, BLOCK_SECONDS = 100, 0.001
#: Which of a round's blocks is its figure, in order of time: with a fourth of them undisturbed it is a good one.
QUANTILE = 0.25


@dataclass(frozen=True)
class Figure:
    """What one subject took: one number per round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def over(self, other: Figure) -> Figure:
        """The ratios to `other`, round by round: what slowed a whole round slowed both."""
        return Figure(tuple(a / b for a, b in zip(self.rounds, other.rounds, strict=True)))

    def beyond(self, other: Figure) -> Figure:
        """The differences to `other`, round by round."""
        return Figure(tuple(a - b for a, b in zip(self.rounds, other.rounds, strict=True)))

    def times(self, factor: float) -> Figure:
        """In another unit."""
        return Figure(tuple(value * factor for value in self.rounds))

    def as_json(self) -> dict[str, Any]:
        return {
            "median": self.median,
            "min": min(self.rounds),
            "max": max(self.rounds),
            "rounds": list(self.rounds),
        }


@dataclass(frozen=True)
class Row:
    """A line of the report.

    Attributes:
        name: what was measured.
        figure: its figures.
        unit: their unit.
        ratio: to the yardstick.
        target: what the ratio (or the figure, where there is no ratio) is held against.
        at_least: the target is a lower limit; else an upper one.
    """

    name: str
    figure: Figure
    unit: str
    ratio: Figure | None = None
    target: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """``met``, ``missed``, or nothing where there is no target."""
        if self.target is None:
            return ""
        value = (self.ratio or self.figure).median
        return "met" if (value >= self.target if self.at_least else value <= self.target) else "missed"


def interleaved(
    subjects: Mapping[str, Callable[[], Any]],
    *,
    rounds: int = ROUNDS,
    blocks: int = BLOCKS,
    single: bool = False,
    before_round: Callable[[], Any] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Figure]:
    """Seconds per call of every subject, measured in alternation.

    Args:
        subjects: name -> what to call.
        rounds: numbers to take the median of.
        blocks: blocks of calls in a round; a round's number is the lower quartile of its blocks.
        single: a block is one call, for what takes long.
        before_round: called ahead of every round.
        clock: `time.process_time` for what takes longer than a scheduler gives a process.
    """
    calls = {name: 1 if single else _calls_per_block(subject) for name, subject in subjects.items()}
    figures: dict[str, list[float]] = {name: [] for name in subjects}
    names = list(subjects)
    # A fixed order could keep time with another process and always meet it with the same subject.
    rng = random.Random(0)
    for _ in range(rounds):
        measured: dict[str, list[float]] = {name: [] for name in names}
        if before_round is not None:
            before_round()
        gc.collect()
        gc.disable()
        try:
            for _ in range(blocks):
                rng.shuffle(names)
                for name in names:
                    measured[name].append(_time(subjects[name], calls[name], clock))
        finally:
            gc.enable()
        for name in names:
            figures[name].append(sorted(measured[name])[int(QUANTILE * blocks)])
    return {name: Figure(tuple(values)) for name, values in figures.items()}


def _time(subject: Callable[[], Any], calls: int, clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    for _ in range(calls):
        subject()
    return (clock() - started) / calls


def _calls_per_block(subject: Callable[[], Any]) -> int:
    _time(subject, 50)  # warm
    return max(1, round(BLOCK_SECONDS / min(_time(subject, 10) for _ in range(5))))


# Reports.

#: Backend -> the distributions whose versions are reported.
DISTRIBUTIONS = {
    "numpy": ("rlgraph-core", "numpy"),
    "torch": ("rlgraph-core", "rlgraph-torch", "torch", "numpy"),
    "tf": ("rlgraph-core", "rlgraph-tf", "tensorflow", "numpy"),
}


def arguments(
    description: str | None, *, backends: Sequence[str] = ("torch", "tf")
) -> argparse.ArgumentParser:
    """The arguments that the scripts share."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    if backends:
        parser.add_argument("--backend", choices=backends, default=backends[0])
    return parser


def compared(
    figures: Mapping[str, Figure],
    yardstick: str,
    unit: str,
    scale: float,
    target: float | None = None,
    prefix: str = "",
    subjects: Sequence[str] = ("rlgraph",),
) -> list[Row]:
    """A row for every figure, with its ratio to the yardstick's.

    Args:
        figures: by subject, in seconds.
        yardstick: one of the subjects.
        unit, scale: what the table shows, and how many of it a second has.
        target: upper limit of the ratios of `subjects`.
        prefix: of the rows' names.
    """
    return [
        Row(
            prefix + name,
            figure.times(scale),
            unit,
            None if name == yardstick else figure.over(figures[yardstick]),
            target if name in subjects else None,
        )
        for name, figure in figures.items()
    ]


def report(
    title: str, rows: Sequence[Row], options: argparse.Namespace, distributions: Sequence[str] = ()
) -> None:
    """Print the table; write the figures.

    Args:
        title: what was measured; the backend of the options, and whether they compile, are added.
        rows: of the table.
        options: those of `arguments`, and ``compile`` if there is such a one.
        distributions: whose versions are reported beside those of the backend.
    """
    backend, how = getattr(options, "backend", ""), "compiled" if getattr(options, "compile", False) else ""
    title = ", ".join(filter(None, (title, backend, how)))
    header = ("", "median", "min to max", "ratio", "target", "")
    table = [header, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(header))]
    found = versions((*DISTRIBUTIONS.get(backend, ()), *distributions))
    print(title)
    for line in table:
        cells = [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        print("  " + "  ".join(cells).rstrip())
    print("  " + ", ".join(f"{name} {version}" for name, version in found.items()))
    print("  " + machine(), flush=True)
    if options.json is not None:
        content = {
            "benchmark": title,
            "versions": found,
            "machine": machine(),
            "rows": [
                {
                    "name": row.name,
                    "unit": row.unit,
                    "figure": row.figure.as_json(),
                    "ratio": row.ratio.as_json() if row.ratio else None,
                    "target": row.target,
                    "verdict": row.verdict,
                }
                for row in rows
            ],
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _cells(row: Row) -> tuple[str, ...]:
    rounds = row.figure.rounds
    sign = "" if row.target is None else (">= " if row.at_least else "<= ")
    return (
        row.name,
        f"{_number(row.figure.median)} {row.unit}",
        f"{_number(min(rounds))} to {_number(max(rounds))}",
        f"{row.ratio.median:.2f}" if row.ratio else "",
        f"{sign}{row.target:g}" if row.target is not None else "",
        row.verdict,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" if value < 10 else f"{value:.1f}"


def versions(distributions: Sequence[str]) -> dict[str, str]:
    """Python's and the installed versions."""
    return {
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in distributions},
    }


def machine() -> str:
    """The processor, the number of cores, and how busy they were."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{name}, {os.cpu_count()} cores, one thread used{load}"
