"""The paper's figure 5a: how long it takes to build one memory, and a dueling DQN agent with prioritized replay.

``assembly`` traces the API methods, ``build`` lets Spaces flow and creates the variables, ``programs`` lowers every
method. Milliseconds, medians; each backend in a process of its own, with its framework imported before.

    python tools/benchmarks paper/build_overhead docs/results/paper_build.json
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

from processes import FRAMEWORKS, by_backend

from rlgraph.agents import DQNAgent
from rlgraph.components import PrioritizedReplay
from rlgraph.core import GraphExecutor, assemble
from rlgraph.spaces import Dict, FloatBox, IntBox

ROUNDS = 7
Made = tuple[Any, Any]  # a root component, and its executor


def measured(backend: str) -> dict[str, Any]:
    """The number of components, and the milliseconds of each phase, of both graphs."""
    importlib.import_module(FRAMEWORKS[backend])
    found = {}
    for name, make in (("memory", memory), ("DQN", dqn)):
        rounds = [phases(make, backend) for _ in range(ROUNDS + 1)][1:]  # the first one imports modules
        found[name] = {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}
    return found


def phases(make: Callable[[str], Made], backend: str) -> dict[str, float]:
    started = time.perf_counter()
    root, executor = make(backend)
    built = time.perf_counter()
    for method in executor.methods:
        executor.program(method)
    lowered = time.perf_counter()
    assemble(root)
    assembly = time.perf_counter() - lowered
    seconds = {"assembly": assembly, "build": built - started - assembly, "programs": lowered - built}
    components = len(root.get_all_sub_components())
    return {"components": components, **{phase: 1e3 * value for phase, value in seconds.items()}}


def memory(backend: str) -> Made:
    """A prioritized replay memory alone."""
    fields = {"states": FloatBox(shape=(4,)), "actions": IntBox(2), "rewards": float, "terminals": bool}
    spaces = {
        "records": Dict(fields, add_batch_rank=True),
        "num_records": IntBox(),
        "indices": IntBox(add_batch_rank=True),
        "errors": FloatBox(add_batch_rank=True),
    }
    root = PrioritizedReplay(1000)
    return root, GraphExecutor(root, spaces, backend=backend)


def dqn(backend: str) -> Made:
    """A dueling double DQN with a prioritized memory; its time includes reading its spec."""
    agent = DQNAgent(
        FloatBox(shape=(4,)),
        IntBox(2),
        network_spec=[{"type": "dense", "units": 64, "activation": "relu"}] * 2,
        memory_spec={"type": "prioritized_replay", "capacity": 1000},
        backend=backend,
    )
    return agent.learner.graph, agent.executor


def main() -> None:
    by_backend(__doc__, measured)
