#!/usr/bin/env python3
"""One DQN update, from a NumPy batch to the loss: RLgraph's program against the update written by hand.

Batch 64, double, dueling, Huber, global norm clipped at 10, Adam.
"""

from __future__ import annotations

import importlib
from typing import Any

from measure import arguments, report, use_one_thread

TARGET = 1.10
BATCHES = 256


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true", help="both sides compiled")
    options = parser.parse_args()
    use_one_thread()
    import against_hand
    from subject import DISTRIBUTIONS, make_agent, random_batch, update_program

    execution = {"threads": 1, **({"compile": ["update"]} if options.compile else {})}
    executor = make_agent(options.backend, execution_spec=execution).executor
    program = update_program(executor)
    module = importlib.import_module(f"by_hand_{options.backend}")
    yardsticks = module.COMPILED if options.compile else module.YARDSTICKS
    start = executor.get_weights()
    subjects: dict[str, Any] = {name: module.Update(start, **how) for name, how in yardsticks.items()}
    subjects["rlgraph"] = lambda batch: float(program(batch)["loss"])
    batches = [random_batch(number) for number in range(BATCHES)]
    rows = against_hand.rows(executor, subjects, batches, TARGET)
    title = f"update, {options.backend}{', compiled' if options.compile else ''}"
    report(title, rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
