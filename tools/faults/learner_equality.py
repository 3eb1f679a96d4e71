#!/usr/bin/env python3
"""Are two learners on halves of every batch, each in a process of its own, one on the whole?

    python tools/faults/learner_equality.py --results docs/results/learner_equality.json

Every algorithm does 100 updates in float64, with given batches, draws and orders of minibatches, over every collective
that is installed; the valid records of learner 1 are three times those of learner 0, and once more with a quarter of
the batch and three quarters. The table has the largest difference of weights, running statistics, returned numbers and
priorities; the two learners have the same weights bit for bit. Exit code 1 if a difference is above the limit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness import parser_of, verdict

from rlgraph.agents.conformance.learner_groups import (
    CASES,
    COLUMNS,
    Share,
    differences,
    run_case,
    run_in_processes,
)
from rlgraph.runs.provenance import provenance

#: Backend and collective.
GROUPS = (("torch", "gloo"), ("torch", "horovod"), ("tf", "horovod"), ("tf", "tensorflow"))
#: Columns of learner 0.
FIRSTS = (COLUMNS // 2, COLUMNS // 4)
LIMIT = 1e-10


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument(
        "--groups", nargs="+", default=[" ".join(group) for group in GROUPS], metavar="'torch gloo'"
    )
    parser.add_argument("--compile", action="store_true", help="compile the programs")
    parser.add_argument(
        "--results", type=Path, help="where the differences are written, beside those of other groups"
    )
    options = parser.parse_args()
    execution = {"threads": 1, "compile": options.compile}
    facts = {key: value for key, value in provenance().items() if key != "command"}
    problems: list[str] = []
    for group in options.groups:
        found = measure(*group.split(), options.updates, execution)
        problems += [f"{group}, {name}" for name, each in found.items() if max(each.values()) > LIMIT]
        if options.results:
            known = json.loads(options.results.read_text()) if options.results.exists() else {}
            title = f"{group} compiled" if options.compile else group
            known[title] = {"updates": options.updates, **facts, "differences": found}
            options.results.write_text(json.dumps(known, indent=2) + "\n")
    return verdict(problems)


def measure(
    backend: str, collective: str, updates: int, execution: dict[str, Any]
) -> dict[str, dict[str, float]]:
    """Case -> kind of result -> the largest difference."""
    found: dict[str, dict[str, float]] = {name: {} for name in CASES}
    spec = {"type": collective, **({"allow_network": True} if collective == "tensorflow" else {})}
    for first in FIRSTS:
        parts = run_in_processes(list(CASES), backend, spec, first, updates, execution)
        for name in CASES:
            whole = run_case(name, backend, Share(first), updates, execution)
            for kind, difference in differences(whole, parts[name]).items():
                found[name][kind] = max(found[name].get(kind, 0.0), difference)
    for name, each in found.items():
        print(f"{backend} {collective} {name}: {max(each.values()):.1e}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
