#!/usr/bin/env python3
"""Acting: NumPy states in, greedy NumPy actions out; RLgraph's program against the network written by hand."""

from __future__ import annotations

import importlib
from functools import partial

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.10
BATCH_SIZES = (1, 8, 64)


def main() -> None:
    options = arguments(__doc__).parse_args()
    use_one_thread()
    import numpy as np
    from subject import DISTRIBUTIONS, make_agent, random_states

    executor = make_agent(options.backend).executor
    module = importlib.import_module(f"by_hand_{options.backend}")
    by_hand = {
        name: module.make_act(executor.get_weights(), **how) for name, how in module.YARDSTICKS.items()
    }
    ours = {"rlgraph": executor.program("get_greedy_actions")}
    ours["rlgraph numpy"] = executor.numpy_program("get_greedy_actions")
    rows = []
    for size in BATCH_SIZES:
        states = random_states(size)
        subjects = {name: partial(act, states) for name, act in {**by_hand, **ours}.items()}
        actions = [subject() for subject in subjects.values()]
        assert all(np.array_equal(a, actions[0]) for a in actions), "they do not choose the same actions"
        figures = interleaved(subjects)
        yardstick = figures["by hand"]
        for name, figure in figures.items():
            ratio = None if figure is yardstick else figure.over(yardstick)
            target = TARGET if name == "rlgraph" else None
            rows.append(Row(f"batch {size}, {name}", figure.times(1e6), "us", ratio, target))
    report(f"act, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
