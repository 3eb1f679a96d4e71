#!/usr/bin/env python3
"""An update of SAC, batch 256, two layers of 256, from a NumPy batch to three losses, against the same by hand."""

from __future__ import annotations

import importlib
import time
from typing import Any

from measure import arguments, report, use_one_thread

TARGET = 1.10
BATCHES = 32
#: Calls that take longer than what a scheduler gives a process.
LONG: dict[str, Any] = {"blocks": 30, "clock": time.process_time}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true", help="both sides compiled")
    options = parser.parse_args()
    use_one_thread()
    import against_hand
    from stand_ins.sac import make_executor, random_batch
    from subject import DISTRIBUTIONS

    module = importlib.import_module(f"sac_by_hand_{options.backend}")
    executor = make_executor(options.backend, **({"compile": ["update"]} if options.compile else {}))
    yardsticks = module.COMPILED if options.compile else module.YARDSTICKS
    start = executor.get_weights()
    subjects: dict[str, Any] = {name: module.Update(start, **how) for name, how in yardsticks.items()}
    program = executor.program("update")
    subjects["rlgraph"] = lambda batch: [float(loss) for loss in program(**batch)]
    batches = [random_batch(seed) for seed in range(BATCHES)]
    rows = against_hand.rows(executor, subjects, batches, TARGET, **LONG)
    title = f"SAC update, {options.backend}{', compiled' if options.compile else ''}"
    report(title, rows, DISTRIBUTIONS[options.backend], options.json)


if __name__ == "__main__":
    main()
