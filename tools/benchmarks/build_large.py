#!/usr/bin/env python3
"""Building what is large: a dueling DQN of 43 components with prioritized replay, from composed components on.

`assemble` traces its API methods, `build` infers Spaces, creates variables and lays them out; neither needs a
framework. Composition is done before the clock starts. A graph executor on NumPy also draws the starting values; it
lowers a method when it is first called, so that nothing is lowered here (`build.py` measures that).
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from measure import ROUNDS, Figure, Row, arguments, report, use_one_thread

#: Milliseconds of assembly and build.
TARGET = 50.0
BUILDS = 7
COMPONENTS = 43


def main() -> None:
    options = arguments(__doc__, backends=()).parse_args()
    use_one_thread()
    first = measure()
    rounds = [[measure() for _ in range(BUILDS)] for _ in range(ROUNDS)]
    rows = []
    for name in first:
        figure = Figure(tuple(statistics.median(build[name] for build in builds) for builds in rounds))
        rows.append(Row(name, figure, "ms", target=TARGET if name == "assembly and build" else None))
    rows.append(Row("assembly and build, first of the process", Figure((first["assembly and build"],)), "ms"))
    report("build large", rows, ("rlgraph-core", "numpy"), options.json)


def measure() -> dict[str, float]:
    """Milliseconds of one fresh build, by phase."""
    from large_dqn import INPUT_SPACES, LargeDQN

    from rlgraph.core import GraphExecutor, assemble, build

    root, other = LargeDQN(), LargeDQN()
    started = time.perf_counter()
    graph = assemble(root)
    assembled = time.perf_counter()
    built = build(graph, INPUT_SPACES)
    ended = time.perf_counter()
    GraphExecutor(other, INPUT_SPACES, backend="numpy")
    executor = time.perf_counter() - ended
    assert built.statistics["components"] == COMPONENTS, built.statistics
    phases: dict[str, Any] = {
        "assembly": assembled - started,
        "build": ended - assembled,
        "assembly and build": ended - started,
        "graph executor": executor,
    }
    return {name: seconds * 1e3 for name, seconds in phases.items()}


if __name__ == "__main__":
    main()
