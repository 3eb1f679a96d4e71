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

    Args:
        description: of the benchmark.
        measure: seed -> numbers by name.
        settings: of the benchmark, written beside the results.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--results", type=Path, help="where they are written")
    options = parser.parse_args()
    facts = {key: value for key, value in provenance().items() if key != "command"}
    runs = []
    for seed in options.seeds:
        runs.append(measure(seed))
        print(*(f"{name} {value:g}" for name, value in runs[-1].items()), sep=", ", flush=True)
    if options.results:
        options.results.write_text(json.dumps({**settings, **facts, "runs": runs}, indent=2) + "\n")
