#!/usr/bin/env python3
"""One DQN update, from a NumPy batch to the loss: RLgraph's program against the update written by hand.

Batch 64, double, dueling, Huber, global norm clipped at 10, Adam; not compiled.
"""

from __future__ import annotations

import importlib
from itertools import cycle
from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.10
COMPARED_UPDATES = 10
BATCHES = 256


def main() -> None:
    options = arguments(__doc__).parse_args()
    use_one_thread()
    from subject import DISTRIBUTIONS, make_agent, random_batch

    executor = make_agent(options.backend).executor
    by_hand = importlib.import_module(f"by_hand_{options.backend}").Update(executor.get_weights())
    program = executor.program("update_from_external_batch")
    compare(executor, program, by_hand)
    # Many batches in turn: a net that has fitted a single one computes with denormal numbers, which are slow.
    batches = [random_batch(number) for number in range(BATCHES)]
    first, second = cycle(batches), cycle(batches)
    figures = interleaved(
        {
            "by hand": lambda: by_hand(next(first)),
            "rlgraph": lambda: float(program(**next(second))["loss"]),
        }
    )
    yardstick = figures["by hand"]
    rows = [
        Row("by hand", yardstick.times(1e6), "us"),
        Row("rlgraph", figures["rlgraph"].times(1e6), "us", figures["rlgraph"].over(yardstick), TARGET),
    ]
    report(f"update, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


def compare(executor: Any, program: Any, by_hand: Any) -> None:
    """Both must give the same losses and the same weights.

    Raises:
        AssertionError: they do not.
    """
    import numpy as np
    from subject import random_batch

    for number in range(COMPARED_UPDATES):
        batch = random_batch(number)
        np.testing.assert_allclose(program(**batch)["loss"], by_hand(batch), rtol=1e-5)
    weights = executor.get_weights()
    for name, value in by_hand.weights().items():
        np.testing.assert_allclose(weights[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


if __name__ == "__main__":
    main()
