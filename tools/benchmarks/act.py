#!/usr/bin/env python3
"""Acting: NumPy states in, greedy NumPy actions out; RLgraph's program against the network written by hand."""

from __future__ import annotations

import importlib

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.10
BATCH_SIZES = (1, 8, 64)


def main() -> None:
    options = arguments(__doc__).parse_args()
    use_one_thread()
    import numpy as np
    from subject import DISTRIBUTIONS, make_agent, random_states

    executor = make_agent(options.backend).executor
    by_hand = importlib.import_module(f"by_hand_{options.backend}").make_act(executor.get_weights())
    program = executor.program("get_greedy_actions")
    on_numpy = executor.numpy_program("get_greedy_actions")
    rows = []
    for size in BATCH_SIZES:
        states = random_states(size)
        expected = program(states)
        assert np.array_equal(by_hand(states), expected) and np.array_equal(on_numpy(states), expected)
        figures = interleaved(
            {
                "by hand": lambda states=states: by_hand(states),
                "rlgraph": lambda states=states: program(states),
                "rlgraph numpy": lambda states=states: on_numpy(states),
            }
        )
        yardstick = figures["by hand"]
        for name, figure in figures.items():
            ratio = None if name == "by hand" else figure.over(yardstick)
            target = TARGET if name == "rlgraph" else None
            rows.append(Row(f"batch {size}, {name}", figure.times(1e6), "us", ratio, target))
    report(f"act, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
