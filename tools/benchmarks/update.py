#!/usr/bin/env python3
"""One DQN update, from a NumPy batch to the loss: RLgraph's program against the update written by hand.

Batch 64, double, dueling, Huber, global norm clipped at 10, Adam; not compiled.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
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
    program = executor.program("update_from_external_batch")
    module = importlib.import_module(f"by_hand_{options.backend}")
    start = executor.get_weights()
    subjects: dict[str, Any] = {name: module.Update(start, **how) for name, how in module.YARDSTICKS.items()}
    subjects["rlgraph"] = lambda batch: float(program(**batch)["loss"])
    compare(executor, subjects)
    # Many batches in turn, and every round from the same start: in a network that has learned what there is to learn
    # derivatives and moments sink to denormal numbers, which are slow.
    batches = [random_batch(number) for number in range(BATCHES)]

    def restart() -> None:
        executor.set_weights(start)
        for update in subjects.values():
            if hasattr(update, "restart"):
                update.restart()

    calls = {name: in_turn(update, batches) for name, update in subjects.items()}
    figures = interleaved(calls, before_round=restart)
    yardstick = figures["by hand"]
    rows = [
        Row(
            name,
            figure.times(1e6),
            "us",
            None if figure is yardstick else figure.over(yardstick),
            TARGET if name == "rlgraph" else None,
        )
        for name, figure in figures.items()
    ]
    report(f"update, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


def in_turn(update: Callable[[Any], float], batches: Sequence[Any]) -> Callable[[], float]:
    """`update` on the next of the batches at every call."""
    following = cycle(batches).__next__
    return lambda: update(following())


def compare(executor: Any, subjects: Mapping[str, Callable[[Any], float]]) -> None:
    """All must give the same losses, and the same weights after some updates.

    Raises:
        AssertionError: they do not.
    """
    import numpy as np
    from subject import random_batch

    for number in range(COMPARED_UPDATES):
        losses = [update(random_batch(number)) for update in subjects.values()]
        np.testing.assert_allclose(losses, losses[-1], rtol=1e-5)
    weights = executor.get_weights()
    for update in subjects.values():
        for name, value in update.weights().items() if hasattr(update, "weights") else ():
            np.testing.assert_allclose(value, weights[name], rtol=1e-4, atol=1e-6, err_msg=name)


if __name__ == "__main__":
    main()
