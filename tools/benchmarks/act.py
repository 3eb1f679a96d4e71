#!/usr/bin/env python3
"""Acting: NumPy states in, greedy NumPy actions out; RLgraph's program against the network written by hand."""

from __future__ import annotations

import importlib
from functools import partial

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.05
BATCH_SIZES = (1, 8, 64, 512)
METHOD = "get_greedy_actions"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true", help="both sides compiled, and both not")
    options = parser.parse_args()
    use_one_thread()
    import numpy as np
    from subject import DISTRIBUTIONS, make_agent, random_states

    executor = make_agent(options.backend, acting="backend").executor
    module = importlib.import_module(f"by_hand_{options.backend}")
    ours = {"rlgraph": executor.program(METHOD), "rlgraph numpy": executor.numpy_program(METHOD)}
    rows = []
    for size in BATCH_SIZES:
        yardsticks = {**module.YARDSTICKS, **(module.COMPILED_ACT if options.compile else {})}
        weights = executor.get_weights()
        by_hand = {name: module.make_act(weights, size, **how) for name, how in yardsticks.items()}
        if options.compile:  # a program each: PyTorch compiles for the sizes of the first call
            execution = {"threads": 1, "compile": [METHOD]}
            compiled = make_agent(options.backend, acting="backend", execution_spec=execution).executor
            ours["rlgraph compiled"] = compiled.program(METHOD)
        states = random_states(size)
        subjects = {name: partial(act, states) for name, act in {**by_hand, **ours}.items()}
        actions = [subject() for subject in subjects.values()]
        assert all(np.array_equal(a, actions[0]) for a in actions), "they do not choose the same actions"
        figures = interleaved(subjects)
        for name, figure in figures.items():
            yardstick = figures["by hand compiled" if name == "rlgraph compiled" else "by hand"]
            ratio = None if name in yardsticks else figure.over(yardstick)
            target = TARGET if name in ("rlgraph", "rlgraph compiled") else None
            rows.append(Row(f"batch {size}, {name}", figure.times(1e6), "us", ratio, target))
    report(f"act, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
