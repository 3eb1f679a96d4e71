#!/usr/bin/env python3
"""An update of PPO, 4 epochs of 4 shuffled minibatches, from NumPy records to the mean loss, against one by hand."""

from __future__ import annotations

import importlib
import time
from typing import Any

from measure import arguments, report, use_one_thread

TARGET = 1.10
SIZES = (64, 256)
BATCHES = 32
#: Calls that take longer than what a scheduler gives a process.
LONG: dict[str, Any] = {"blocks": 30, "clock": time.process_time}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true", help="both sides compiled")
    options = parser.parse_args()
    use_one_thread()
    import against_hand
    from ppo_learner import make_executor, random_batch, stream_of
    from subject import DISTRIBUTIONS

    module = importlib.import_module(f"ppo_by_hand_{options.backend}")
    rows = []
    for size in SIZES:
        batches = [random_batch(size, seed) for seed in range(BATCHES)]
        execution: dict[str, Any] = {"compile": ["update"]} if options.compile else {}
        executor = make_executor(options.backend, **execution)
        yardsticks = module.COMPILED if options.compile else module.YARDSTICKS
        start = executor.get_weights()
        subjects: dict[str, Any] = {
            name: module.Update(start, batches[0], stream_of(executor), **how)
            for name, how in yardsticks.items()
        }
        program = executor.program("update")
        subjects["rlgraph"] = lambda batch, program=program: program(batch)["loss"]
        rows += against_hand.rows(executor, subjects, batches, TARGET, f"minibatch {size}, ", **LONG)
    title = f"PPO update, {options.backend}{', compiled' if options.compile else ''}"
    report(title, rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
