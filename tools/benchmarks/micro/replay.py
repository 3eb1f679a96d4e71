"""Uniform replay against Stable-Baselines3's `ReplayBuffer`: inserts, draws and the memory they take.

Observations are four floats, or stacks of four frames of 84x84 bytes, which RLgraph keeps once (`frame_stack`). RLgraph
is called through `GraphExecutor.execute`, through the program behind it, which agents call, and without any border, as
the plan calls the host function. Every subject is a process of its own; the processes alternate. Processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
from measure import DISTRIBUTIONS, Figure, Row, arguments, report
from processes import alternating, in_process

ROUNDS, REPEATS = 7, 9
#: Kind of observation -> records kept, records drawn at once, calls per figure.
KINDS = {"floats": (100_000, 64, 5000), "frames": (10_000, 32, 500)}
#: Different transitions, inserted in turn: what comes is not in the processor's caches.
TRANSITIONS = 500
SUBJECTS = ("sb3", "rlgraph execute", "rlgraph program", "rlgraph without border")
#: Times SB3: what is asked of `execute`. Of memory at most that share.
TARGETS = {
    ("floats", "insert"): 5.0,
    ("floats", "draw"): 5.0,
    ("frames", "insert"): 1.0,
    ("frames", "draw"): 1.0,
}
MEMORY_TARGET = 0.25


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument(
        "--sb3-python", type=Path, metavar="PATH", help="an interpreter with Stable-Baselines3"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--measure", choices=SUBJECTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.kind)))
        return
    sb3_python = options.sb3_python or peers.interpreter("sb3")
    for kind in [options.kind] if options.kind else KINDS:

        def measured(subject: str, kind: str = kind) -> dict[str, float]:
            python = sb3_python if subject == "sb3" else None
            return in_process(python, "--measure", subject, "--kind", kind)

        found = alternating(SUBJECTS, options.rounds, measured)
        report(f"replay, {kind}", rows(kind, found), options, DISTRIBUTIONS["numpy"])


def rows(kind: str, found: dict[str, list[dict[str, float]]]) -> list[Row]:
    """Inserts and draws per second over those of SB3, and the bytes of a record."""
    made = []
    for work in ("insert", "draw"):
        figures = {name: Figure(tuple(each[work] for each in results)) for name, results in found.items()}
        for name, figure in figures.items():
            ratio = None if name == "sb3" else figures["sb3"].over(figure)
            target = TARGETS[kind, work] if name == "rlgraph execute" else None
            made.append(Row(f"{work}, {name}", figure.times(1e6), "us", ratio, target, at_least=True))
    ours, theirs = (
        Figure(tuple(each["bytes"] for each in found[name])) for name in ("rlgraph execute", "sb3")
    )
    target = MEMORY_TARGET if kind == "frames" else None
    made.append(Row("a record, sb3", theirs, "bytes"))
    made.append(Row("a record, rlgraph", ours, "bytes", ours.over(theirs), target))
    return made


def measure(subject: str, kind: str) -> dict[str, float]:
    """Seconds of one insert and of one draw, bytes per record."""
    capacity, batch, calls = KINDS[kind]
    make = make_sb3 if subject == "sb3" else make_rlgraph
    insert, draw, size, steps = make(kind, capacity, batch, subject.removeprefix("rlgraph "))
    for i in range(capacity + TRANSITIONS):  # it is full, and overwrites
        insert(steps[i % TRANSITIONS])
    passes = max(1, calls // TRANSITIONS)

    def inserts() -> None:
        for _ in range(passes):
            for step in steps:
                insert(step)

    def draws() -> None:
        for _ in range(calls):
            draw()

    draws()
    return {
        "insert": seconds(inserts) / (passes * TRANSITIONS),
        "draw": seconds(draws) / calls,
        "bytes": size() / capacity,
    }


def seconds(work: Callable[[], None]) -> float:
    """The lower quartile of several measurements."""
    found = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return sorted(found)[REPEATS // 4]


def observations(kind: str) -> Any:
    """``[TRANSITIONS + 1, ...]``, those of one episode."""
    import numpy as np

    rng = np.random.default_rng(0)
    if kind == "floats":
        return rng.standard_normal((TRANSITIONS + 1, 4)).astype(np.float32)
    frames = rng.integers(256, size=(TRANSITIONS + 4, 84, 84)).astype(np.uint8)
    return np.stack([frames[i : TRANSITIONS + 1 + i] for i in range(4)], axis=-1)


def make_rlgraph(kind: str, capacity: int, batch: int, border: str) -> Any:
    """What inserts a step, what draws, what counts bytes, and steps for the first."""
    import numpy as np
    from subject import transitions

    from rlgraph.components import ReplayMemory
    from rlgraph.core import GraphExecutor
    from rlgraph.spaces import FloatBox, IntBox

    seen = observations(kind)
    states = FloatBox(shape=(4,)) if kind == "floats" else IntBox(0, 256, shape=(84, 84, 4), dtype="uint8")
    records = transitions(states, IntBox(4))
    memory = ReplayMemory(capacity, frame_stack=4 if kind == "frames" else None)
    executor = GraphExecutor(memory, {"records": records, "num_records": IntBox()}, backend="numpy")
    steps = [
        {
            "actions": np.array([i % 4]),
            "next_states": seen[i + 1 : i + 2],
            "rewards": np.array([i], np.float32),
            "states": seen[i : i + 1],
            "terminals": np.array([i == TRANSITIONS - 1]),
        }
        for i in range(TRANSITIONS)
    ]
    number = np.array(batch)
    insert, draw = executor.program("insert_records"), executor.program("get_records")
    if border == "execute":
        insert, draw = (
            (lambda step: executor.execute("insert_records", step)),
            (lambda number: executor.execute("get_records", number)),
        )
    elif border == "without border":
        view = executor.guarded.host_view(executor.built.graph.root)
        fast = type(view)._insert.make_fast(view)
        insert = lambda step: fast(*step.values()) or view.write(step)  # noqa: E731
        draw = lambda number: type(view)._sample.function(view, number)  # noqa: E731
    size = lambda: sum(array.nbytes for array in executor.storage.host.values())  # noqa: E731
    return insert, lambda: draw(number), size, steps


def make_sb3(kind: str, capacity: int, batch: int, _: str) -> Any:
    """The same of SB3."""
    import numpy as np
    import torch
    from gymnasium import spaces
    from stable_baselines3.common.buffers import ReplayBuffer

    torch.set_num_threads(1)
    seen = observations(kind)
    low, high = (-10, 10) if kind == "floats" else (0, 255)
    space = spaces.Box(low, high, seen.shape[1:], seen.dtype.type)
    buffer = ReplayBuffer(capacity, space, spaces.Discrete(4), device="cpu", optimize_memory_usage=False)
    steps: list[Any] = [
        (
            seen[i : i + 1],
            seen[i + 1 : i + 2],
            np.array([i % 4]),
            np.array([i], np.float32),
            np.array([i == TRANSITIONS - 1]),
            [{}],
        )
        for i in range(TRANSITIONS)
    ]
    arrays = (buffer.observations, buffer.next_observations, buffer.actions, buffer.rewards, buffer.dones)
    size = lambda: sum(array.nbytes for array in (*arrays, buffer.timeouts))  # noqa: E731
    return lambda step: buffer.add(*step), lambda: buffer.sample(batch), size, steps
