"""A DQN agent on a device, or learners on several: whether they compute what the CPU does, and what updates take.

python tools/benchmarks micro/on_device --backend torch --device cuda:0
python tools/benchmarks micro/on_device --devices cuda:0 cuda:1 --collective nccl --hidden 1024 --batches 32
python tools/benchmarks micro/on_device --devices cuda:0 cuda:0 --collective gloo    # two learners on one GPU
python -m rlgraph.testing --backend torch --device cuda:0      # the conformance suite there
"""

from __future__ import annotations

import os
from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np
from measure import Figure, Row, arguments, interleaved, report
from subject import make_agent, random_batch, random_states, update_program

from rlgraph.core.addresses import free_address

#: How far float32 on a GPU may be from float32 on the CPU, after an update as well.
TOLERANCE = 1e-4
ACTING, UPDATE = "get_greedy_actions", "update"
ACTING_SIZES = (1, 64)
#: Updates that are compared, and those of a round that are measured.
COMPARED, MEASURED = 5, 20


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--device", default="cuda:0", help="where everything is placed")
    parser.add_argument("--devices", nargs="*", help="a learner on each of them, in a group")
    parser.add_argument("--collective", default="gloo", help="how the learners add up")
    parser.add_argument("--hidden", type=int, default=64, help="units of the two hidden layers")
    parser.add_argument("--batches", type=int, default=1, help="batches of 64 that a group has together")
    options = parser.parse_args()
    if options.devices:
        of_group(options)
    else:
        of_device(options)


def executor(options: Namespace, **execution: Any) -> Any:
    network = [{"type": "dense", "units": options.hidden, "activation": "relu"}] * 2
    execution = {"threads": 1, **execution}
    agent = make_agent(options.backend, acting="backend", execution_spec=execution, network_spec=network)
    return agent.executor


# One device.


def of_device(options: Namespace) -> None:
    here, there = "not placed", f"on {options.device}"
    compiled = f"{there}, compiled"
    variants = {
        here: executor(options),
        there: executor(options, device=options.device),
        compiled: executor(options, device=options.device, compile=[ACTING, UPDATE]),
    }
    for name in (there, compiled):
        compare(executor(options), variants[name])
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
    report(f"on {options.device}", rows, options)


def compare(cpu: Any, placed: Any) -> None:
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
    same(cpu.get_weights(), placed.get_weights())


def same(expected: Any, found: Any) -> None:
    """Raise `AssertionError` unless all weights are nearly equal."""
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


# Several devices.


def of_group(options: Namespace) -> None:
    """Compare a group with one learner on the CPU that has the whole batch, and measure it beside one on a device."""
    size, address, first = len(options.devices), free_address(), options.devices[0]
    with ProcessPoolExecutor(size, get_context("spawn")) as pool:
        found = list(pool.map(partial(learn, options, address), range(size)))
    weights, _ = learn_alone(options, "cpu", rounds=0)
    for each, _ in found:
        same(weights, each)
        for name, value in found[0][0].items():
            np.testing.assert_array_equal(each[name], value, err_msg=name)
    _, alone = learn_alone(options, first, rounds=len(found[0][1].rounds))
    rows = [
        Row(f"update, one learner on {first}", alone.times(1e6), "us"),
        Row(f"update, learners on {' '.join(options.devices)}", found[0][1].times(1e6), "us"),
    ]
    report(f"{size} learners, {options.collective}, {64 * options.batches} rows", rows, options)


def learn(options: Namespace, address: str, rank: int) -> tuple[dict[str, np.ndarray], Figure]:
    """Be a learner of the group; its weights after what is compared, and seconds of an update."""
    size = len(options.devices)
    place = {"RLGRAPH_RANK": str(rank), "RLGRAPH_SIZE": str(size), "RLGRAPH_GROUP_ADDRESS": address}
    os.environ.update(place)
    made = executor(options, devices=options.devices, collective=options.collective)
    # Shares of 1, 3, 5 ... parts are compared, and equal ones measured.
    return updated(
        made, options, (rank**2 / size**2, (rank + 1) ** 2 / size**2), (rank / size, (rank + 1) / size)
    )


def learn_alone(options: Namespace, device: str, rounds: int) -> tuple[dict[str, np.ndarray], Figure]:
    return updated(executor(options, device=device), options, (0.0, 1.0), (0.0, 1.0), rounds)


def updated(
    made: Any,
    options: Namespace,
    compared: tuple[float, float],
    measured: tuple[float, float],
    rounds: int = 7,
) -> tuple[dict[str, np.ndarray], Figure]:
    """Weights after some updates on a share of each batch, and seconds of an update on another share."""
    update = update_program(made)
    for number in range(COMPARED):
        update(share(number, options.batches, *compared))
    weights, batch, seconds = made.get_weights(), share(0, options.batches, *measured), []
    for _ in range(rounds):
        began = perf_counter()
        for _ in range(MEASURED):
            update(batch)
        seconds.append((perf_counter() - began) / MEASURED)
    return weights, Figure(tuple(seconds))


def share(number: int, batches: int, start: float, stop: float) -> dict[str, np.ndarray]:
    """The rows of a large batch between two of its fractions."""
    parts = [random_batch(number * batches + i) for i in range(batches)]
    rows = slice(round(64 * batches * start), round(64 * batches * stop))
    return {name: np.concatenate([part[name] for part in parts])[rows] for name in parts[0]}
