"""The command line of benchmarks that repeat a measurement with several seeds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlgraph.runs.provenance import provenance


def run_seeds(
    description: str | None, measure: Callable[[int], Mapping[str, Any]], settings: Mapping[str, Any]
) -> None:
    """Measure every seed, print each result, and write all of them into the file of ``--results``.

    Runs of other seeds stay in the file if they are of the same revision, settings and machine.

    Args:
        description: of the benchmark.
        measure: seed -> numbers, or lists of these, by name; lists are not printed.
        settings: of the benchmark, written beside the results.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--results", type=Path, help="where they are written")
    options = parser.parse_args()
    facts = facts_of_machine()
    runs = _known({**settings, **facts}, options.results, options.seeds)
    for seed in options.seeds:
        runs.append(measure(seed))
        numbers = {name: value for name, value in runs[-1].items() if not isinstance(value, list)}
        print(*(f"{name} {value:g}" for name, value in numbers.items()), sep=", ", flush=True)
    if options.results:
        runs.sort(key=lambda run: run["seed"])
        options.results.write_text(json.dumps({**settings, **facts, "runs": runs}, indent=2) + "\n")


def facts_of_machine() -> dict[str, Any]:
    """Versions, revision and machine, written beside results."""
    return {key: value for key, value in provenance().items() if key != "command"}


def _known(same: Mapping[str, Any], file: Path | None, seeds: list[int]) -> list[Any]:
    """The runs in a file of other seeds, where everything else is the same."""
    known = json.loads(file.read_text()) if file and file.exists() else {}
    runs = known.pop("runs", [])
    return [run for run in runs if run["seed"] not in seeds] if known == json.loads(json.dumps(same)) else []
