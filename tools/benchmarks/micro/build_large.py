"""Building what is large: a dueling DQN of 39 components with prioritized replay, from composed components on.

`assemble` traces its API methods, `build` infers Spaces, creates variables and lays them out; neither needs a
framework. Composition is done before the clock starts. A graph executor on NumPy also draws the starting values; it
lowers a method when it is first called, so that nothing is lowered here (`build.py` measures that).

A build is too long to go undisturbed on a busy machine: figures are processor time, which is what the clock shows on an
idle one. Each round's figure is the median of seven builds.
"""

from __future__ import annotations

import statistics
import time

from measure import DISTRIBUTIONS, ROUNDS, Figure, Row, arguments, report
from micro.large_dqn import INPUT_SPACES, LargeDQN

from rlgraph.core import GraphExecutor, assemble, build

#: Milliseconds of assembly and build.
TARGET = 50.0
BUILDS = 7  # per round
COMPONENTS = 39


def main() -> None:
    options = arguments(__doc__, backends=()).parse_args()
    first = measure()
    rounds = [[measure() for _ in range(BUILDS)] for _ in range(ROUNDS)]
    rows = []
    for name in first:
        figure = Figure(tuple(statistics.median(build[name] for build in builds) for builds in rounds))
        rows.append(Row(name, figure, "ms", target=TARGET if name == "assembly and build" else None))
    rows.append(Row("assembly and build, first of the process", Figure((first["assembly and build"],)), "ms"))
    report("build large", rows, options, DISTRIBUTIONS["numpy"])


def measure() -> dict[str, float]:
    """Milliseconds of one fresh build, by phase."""
    root, other = LargeDQN(), LargeDQN()
    now, clock = time.process_time, time.perf_counter()
    started = now()
    graph = assemble(root)
    assembled = now()
    built = build(graph, INPUT_SPACES)
    ended, clock = now(), time.perf_counter() - clock
    GraphExecutor(other, INPUT_SPACES, backend="numpy")
    phases = {
        "assembly": assembled - started,
        "build": ended - assembled,
        "assembly and build": ended - started,
        "assembly and build, by the clock": clock,
        "graph executor": now() - ended,
    }
    assert built.statistics["components"] == COMPONENTS, built.statistics
    return {name: seconds * 1e3 for name, seconds in phases.items()}
