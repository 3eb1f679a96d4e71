"""Two learners: what RLgraph costs around the segments of an update and their sum, and what two processes gain.

Two processes with one thread each, on one machine; both run the same calls in the same order, and the first one
measures. The DQN update of each learner has half of the records.

segments   the program of the update against its segments, called one after the other with the bare sum of Gloo or
           Horovod between them: networks of 64-64 and of 1.7 million numbers, batches of 64.
gain       networks of 256-256, a batch of 2,048: one learner on the whole batch against both ways.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import Figure, Row, arguments, interleaved, report
from processes import command
from subject import random_inputs

from rlgraph.algorithms.dqn import DQN
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives.place import Place, make_collective
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.learner import Learner
from rlgraph.spaces import FloatBox, IntBox

STATES, ACTIONS = 8, 4
#: Name -> units of two dense layers, records of an update of all learners, calls of a round.
SIZES = {"64-64": (64, 128, 100), "1.7 million": (1300, 128, 12), "256-256": (256, 2048, 15)}
#: The program by hand; one learner with the whole batch.
BY_HAND, ALONE, UPDATE = "by hand", "one learner", "update"
#: Upper limit of the ratio to the segments by hand, and lower limit of the gain.
MOST, GAIN = 1.1, 1.6


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("segments", "gain"))
    parser.add_argument("--collective", choices=("gloo", "horovod"), default="gloo")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.address:
        measured(options, 1, options.address)
        return
    address = free_address()
    other = subprocess.Popen(command(*sys.argv[1:], "--address", address))
    try:
        figures = measured(options, 0, address)
        other.wait(60)
    finally:
        other.kill()
    title = f"two_learners {options.what}, {options.collective}"
    report(title, rows(figures), options, ["horovod"] if options.collective == "horovod" else [])


def rows(figures: dict[str, dict[str, Figure]]) -> list[Row]:
    found = []
    for name, subjects in figures.items():
        for subject, figure in subjects.items():
            ratio, target, is_gain = None, None, ALONE in subjects
            if is_gain and subject != ALONE:
                ratio = subjects[ALONE].over(figure)
            elif not is_gain and subject == UPDATE:
                ratio = figure.over(subjects[BY_HAND])
            if subject == UPDATE:
                target = GAIN if is_gain else MOST
            found.append(Row(f"{name}, {subject}", figure.times(1e3), "ms", ratio, target, is_gain))
    return found


def measured(options: argparse.Namespace, rank: int, address: str) -> dict[str, dict[str, Figure]]:
    """What each subject took in this process, by size."""
    collective = make_collective({"type": options.collective, "timeout": 120.0}, Place(rank, 2, address))
    figures = {}
    for name in ("64-64", "1.7 million") if options.what == "segments" else ("256-256",):
        units, records, blocks = SIZES[name]
        learner = make_learner(options, units, collective)
        batch = make_batch(learner, rank, records // 2)
        subjects = {
            UPDATE: partial(learner.executor.program("update"), **batch),
            BY_HAND: by_hand(learner, batch, bare_sum(collective)),
        }
        if options.what == "gain" and rank:
            subjects[ALONE] = wait_for_the_other
        elif options.what == "gain":
            alone = make_learner(options, units, None)
            subjects[ALONE] = partial(alone.executor.program("update"), **make_batch(alone, 0, records))
        for run in subjects.values():
            for _ in range(20):
                run()
        # Calls of both processes have one order, which is drawn with one seed.
        figures[name] = interleaved(subjects, rounds=options.rounds, blocks=blocks, single=True)
    collective.close()
    return figures


def wait_for_the_other() -> None:
    """What the second learner does while the first one learns alone: it is waited for in the next sum."""


def make_learner(options: argparse.Namespace, units: int, collective: Any) -> Any:
    spec, experience, execution = split_options(
        DQN,
        FloatBox(shape=(STATES,)),
        IntBox(ACTIONS),
        execution_spec={"threads": 1, "compile": ["update"] if options.compile else False},
        network_spec=[{"type": "dense", "units": units, "activation": "tanh"}] * 2,
        optimizer_spec={"type": "adam", "learning_rate": 1e-9, "clip_grad_norm": 0.5},
    )
    return Learner(spec, experience, options.backend, execution, collective=collective)


def make_batch(learner: Any, seed: int, records: int) -> dict[str, Any]:
    """The arguments of an update."""
    spaces = learner.executor.built.input_spaces["update"]
    return random_inputs(spaces, np.random.default_rng(seed), records)


def bare_sum(collective: Any) -> Callable[[Any], Any]:
    """The call of the library alone, over the same connections: nobody watches, and errors name nobody."""
    import torch

    if type(collective).__name__ == "HorovodCollective":
        import horovod.torch as hvd

        return lambda array: hvd.allreduce_(torch.from_numpy(array), name="sum", op=hvd.Sum)
    group = collective._group
    return lambda array: group.allreduce([torch.from_numpy(array)]).wait()


def by_hand(learner: Any, batch: dict[str, Any], add_up: Callable[[Any], Any]) -> Callable[[], Any]:
    """The segments of the update with a sum between them; nothing is checked or locked, sizes are fixed.

    A small derivative comes with the loss and the number of items at its end, a large one has a sum of its own.
    """
    plan = learner.executor.plan("update")
    lowered = learner.executor.programs._on_backend(plan)
    first, second = (lowered.segments[segment.name] for segment in plan.segments)
    inputs = [_at(batch, leaf) for leaf, _ in plan.segments[0].inputs]
    (size,) = plan.segments[1].inputs[0][1].shape

    def small() -> tuple[Any, Any]:
        per_item, flat = first(*inputs)
        add_up(flat)
        flat[:-1] /= flat[-1]
        second(flat[:size])
        return flat[size : size + 1].reshape(()), per_item

    def large() -> tuple[Any, Any]:
        per_item, derivative, flat = ordered(*first(*inputs))
        add_up(flat)
        flat[:-1] /= flat[-1]
        add_up(derivative)
        derivative /= flat[-1]
        second(derivative)
        return flat[:1].reshape(()), per_item

    def ordered(*outputs: Any) -> tuple[Any, Any, Any]:
        *others, flat = outputs
        per_item, derivative = sorted(others, key=lambda array: array.size)
        return per_item, derivative, flat

    return small if len(plan.segments[0].outputs) == 2 else large


def _at(batch: dict[str, Any], leaf: Any) -> Any:
    value = batch[leaf.source.name]
    for key in leaf.path:
        value = value[key]
    return value
