"""Building: one dense layer, and the dueling double DQN agent with replay, every API method lowered.

The framework is imported before; every build starts from fresh components.
"""

from __future__ import annotations

import importlib
import time

from measure import Figure, Row, arguments, interleaved, report
from subject import STATE_SIZE, make_agent

from rlgraph.components import Dense
from rlgraph.core import GraphExecutor
from rlgraph.spaces import FloatBox

#: Seconds.
LAYER_TARGET = 0.1
AGENT_TARGETS = {"torch": 0.4, "tf": 1.0}


def main() -> None:
    options = arguments(__doc__).parse_args()
    importlib.import_module({"torch": "torch", "tf": "tensorflow"}[options.backend])

    def build_layer() -> None:
        inputs = FloatBox(shape=(STATE_SIZE,), add_batch_rank=True)
        lower_all(GraphExecutor(Dense(64, "relu"), {"inputs": inputs}, backend=options.backend))

    def build_agent() -> None:
        lower_all(make_agent(options.backend).executor)

    def lower_all(executor: GraphExecutor) -> None:
        for method in executor.methods:
            executor.program(method)

    started = time.perf_counter()
    build_agent()
    first = Figure((time.perf_counter() - started,))
    subjects = {"dense layer": build_layer, "agent": build_agent}
    figures = interleaved(subjects, blocks=1, single=True)
    rows = [
        Row("dense layer", figures["dense layer"].times(1e3), "ms", target=LAYER_TARGET * 1e3),
        Row("agent", figures["agent"].times(1e3), "ms", target=AGENT_TARGETS[options.backend] * 1e3),
        Row("agent, first build of the process", first.times(1e3), "ms"),
    ]
    report("build", rows, options)
