#!/usr/bin/env python3
"""A DQN agent on a device: whether it computes what the CPU does, and what acting and updates take, compiled as well.

python tools/benchmarks/on_device.py --backend torch --device cuda:0
python -m rlgraph.testing --backend torch --device cuda:0      # the conformance suite there
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Row, arguments, interleaved, report, use_one_thread

#: How far float32 on a GPU may be from float32 on the CPU, after an update as well.
TOLERANCE = 1e-4
ACTING, UPDATE = "get_greedy_actions", "update"
ACTING_SIZES = (1, 64)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--device", default="cuda:0", help="where everything is placed")
    parser.add_argument("--hidden", type=int, default=64, help="units of the two hidden layers")
    options = parser.parse_args()
    use_one_thread()
    from subject import DISTRIBUTIONS, make_agent, random_batch, random_states, update_program

    network = [{"type": "dense", "units": options.hidden, "activation": "relu"}] * 2

    def executor(**execution: Any) -> Any:
        execution = {"threads": 1, **execution}
        return make_agent(
            options.backend, acting="backend", execution_spec=execution, network_spec=network
        ).executor

    here, there = "not placed", f"on {options.device}"
    compiled = f"{there}, compiled"
    variants = {
        here: executor(),
        there: executor(device=options.device),
        compiled: executor(device=options.device, compile=[ACTING, UPDATE]),
    }
    for name in (there, compiled):
        compare(executor(), variants[name], update_program, random_batch, random_states)
    print(f"{compiled}: {variants[compiled].choices}")
    subjects = {}
    for name, made in variants.items():
        # On torch a program is compiled for the size of its first call.
        for size in ACTING_SIZES[:1] if name == compiled else ACTING_SIZES:
            program, states = made.program(ACTING), random_states(size)
            subjects[f"act {size}, {name}"] = lambda program=program, states=states: program(states)
        update, batch = update_program(made), random_batch()
        subjects[f"update, {name}"] = lambda update=update, batch=batch: update(batch)
    rows = [Row(name, figure.times(1e6), "us") for name, figure in interleaved(subjects).items()]
    report(f"on {options.device}, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


def compare(cpu: Any, placed: Any, update_program: Any, random_batch: Any, random_states: Any) -> None:
    """Check that both act and learn alike.

    Raises:
        AssertionError: they do not.
    """
    placed.set_weights(cpu.get_weights())
    updates = [update_program(made) for made in (cpu, placed)]
    for number in range(5):
        losses = [update(random_batch(number))["loss"] for update in updates]
        np.testing.assert_allclose(*losses, rtol=TOLERANCE, atol=TOLERANCE)
        values = [made.execute("get_q_values", random_states(32, number)) for made in (cpu, placed)]
        np.testing.assert_allclose(*values, rtol=TOLERANCE, atol=TOLERANCE)
    found = placed.get_weights()
    for name, expected in cpu.get_weights().items():
        np.testing.assert_allclose(found[name], expected, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


if __name__ == "__main__":
    main()
