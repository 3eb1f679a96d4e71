"""Prioritized replay: setting priorities and drawing in proportion to them, RLgraph's tree against tianshou's.

A tree of 2^20 priorities, batches of 64 and 512. Indices and shares of the whole change from call to call: with the
same ones over and over a processor learns which way a search turns. All trees must find the same indices. Every
measurement is a process of its own; the processes alternate. Processor time is counted.

The last rows are the whole component, API methods `update_records` and `get_records`, with records as CartPole has
them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import peers
from measure import Figure, Row, arguments, interleaved, report
from processes import alternating, in_process

CAPACITY, BATCHES, POOL, ROUNDS = 2**20, (64, 512), 400, 5
SUBJECTS = ("tianshou", "numpy", "numba")
#: Microseconds at most without Numba, and how many times as fast as tianshou with it.
LIMITS = {"update 64": 30.0, "sample 64": 45.0}
FACTORS = {"update 64": 2.5, "sample 64": 1.8}


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument(
        "--tianshou-python", type=Path, metavar="PATH", help="an interpreter that has tianshou"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--measure", choices=SUBJECTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    pythons = {"tianshou": options.tianshou_python or peers.interpreter("tianshou")}
    results = alternating(
        SUBJECTS, options.rounds, lambda subject: in_process(pythons.get(subject), "--measure", subject)
    )
    if len({result["found"] for found in results.values() for result in found}) != 1:
        raise SystemExit("The trees do not find the same indices.")
    report("prioritized_replay", list(rows_of(results)), options)
    for subject, found in results.items():
        print(f"  {subject}: {found[0]['versions']}")


def rows_of(results: dict[str, list[dict[str, Any]]]) -> Iterator[Row]:
    figures = {
        subject: {
            name: Figure(tuple(1e6 * result["seconds"][name] for result in found))
            for name in found[0]["seconds"]
        }
        for subject, found in results.items()
    }
    for name, yardstick in figures["tianshou"].items():
        yield Row(f"{name}, tianshou", yardstick, "us")
        yield Row(f"{name}, numpy", figures["numpy"][name], "us", None, LIMITS.get(name))
        faster = yardstick.over(figures["numba"][name])
        yield Row(f"{name}, numba", figures["numba"][name], "us", faster, FACTORS.get(name), at_least=True)
    for name in [name for name in figures["numpy"] if name not in figures["tianshou"]]:
        for subject in ("numpy", "numba"):
            yield Row(f"{name}, {subject}", figures[subject][name], "us")


# One subject, in its process.


def measure(subject: str) -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    update, find = tianshou() if subject == "tianshou" else rlgraph(subject == "numba")
    # Whole numbers, and shares in the middle of one: every tree has the same sums, without rounding.
    whole = rng.integers(1, 9, CAPACITY).astype(np.float64)
    update(np.arange(CAPACITY), whole)
    units = np.sort(rng.integers(0, int(whole.sum()), 1000))
    found = int((find((units + 0.5) / whole.sum()) * np.arange(1000)).sum())
    calls: dict[str, Callable[[], Any]] = {}
    for size in BATCHES:
        indices = cycle(rng.integers(0, CAPACITY, (POOL, size)))
        priorities = cycle(rng.random((POOL, size)))
        shares = cycle((rng.random((POOL, size)) + np.arange(size)) / size)
        calls[f"update {size}"] = lambda i=indices, p=priorities: update(next(i), next(p))
        calls[f"sample {size}"] = lambda s=shares: find(next(s))
    if subject != "tianshou":
        calls |= component(subject == "numba", rng)
    seconds = {
        name: figure.median for name, figure in interleaved(calls, rounds=1, clock=time.process_time).items()
    }
    names = {"tianshou": ("tianshou", "numba", "numpy"), "numpy": ("rlgraph-core", "numpy")}
    versions = {name: version_of(name) for name in names.get(subject, ("rlgraph-core", "numba", "numpy"))}
    return {"seconds": seconds, "found": found, "versions": versions}


def version_of(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "from the sources"


def tianshou() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Its tree's file alone: the package imports much that it does not need."""
    package = importlib.util.find_spec("tianshou")
    assert package is not None and package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "data" / "utils" / "segtree.py"
    spec = importlib.util.spec_from_file_location("segtree", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tree = module.SegmentTree(CAPACITY)
    return tree.__setitem__, lambda shares: tree.get_prefix_sum_idx(shares * tree.reduce())


def rlgraph(use_kernels: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    import numpy as np

    from rlgraph.components.memories.segment_tree import SumTree, numba_kernels

    if use_kernels and numba_kernels() is None:
        raise SystemExit("Numba is not installed.")
    tree = SumTree(np.zeros(SumTree.size_for(CAPACITY)), use_kernels)
    return tree.set, tree.find


def component(use_kernels: bool, rng: Any) -> dict[str, Callable[[], Any]]:
    """`PrioritizedReplay`, full."""
    import numpy as np
    from subject import transitions

    from rlgraph.components import PrioritizedReplay
    from rlgraph.core import GraphExecutor
    from rlgraph.spaces import FloatBox, IntBox

    records = transitions(FloatBox(shape=(4,)), IntBox(2))
    spaces = {
        "records": records,
        "num_records": IntBox(),
        "progress": FloatBox(),
        "indices": IntBox(add_batch_rank=True),
        "errors": FloatBox(add_batch_rank=True),
    }
    executor = GraphExecutor(
        PrioritizedReplay(CAPACITY), spaces, backend="numpy", execution_spec={"use_kernels": use_kernels}
    )
    executor.execute("insert_records", records.zeros(CAPACITY))
    update, get = executor.program("update_records"), executor.program("get_records")
    indices = cycle(rng.integers(0, CAPACITY, (POOL, 64)))
    errors = cycle(rng.normal(size=(POOL, 64)).astype(np.float32))
    number, progress = np.array(64), np.array(0.5, np.float32)
    return {
        "update_records 64": lambda: update(next(indices), next(errors)),
        "get_records 64": lambda: get(number, progress),
    }
