#!/usr/bin/env python3
"""Threads insert into a memory while others draw from it: no record may be torn, none may be lost.

Every record carries who inserted it and its number, and all its fields are made of these two, images included: a drawn
record of which a part belongs to another shows it. What is held at the end must be the latest records of every thread,
one after the other, and as many of them as there is room for.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import parser_of, verdict

from rlgraph.components import PrioritizedReplay, ReplayMemory, RingBuffer
from rlgraph.core import GraphExecutor
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

CAPACITY, SIDE, STACK = 4096, 16, 4
IMAGE = IntBox(0, 256, shape=(SIDE, SIDE, STACK), dtype="uint8")
RECORDS = Dict(
    thread=IntBox(),
    number=IntBox(),
    states=IMAGE,
    values=FloatBox(shape=(8,)),
    terminals=BoolBox(),
    next_states=IMAGE,
    add_batch_rank=True,
)
SPACES = {
    "records": RECORDS,
    "num_records": IntBox(),
    "num_episodes": IntBox(),
    "progress": FloatBox(),
    "indices": IntBox(add_batch_rank=True),
    "errors": FloatBox(add_batch_rank=True),
}
ARGUMENTS = {
    PrioritizedReplay: ("records", "num_records", "progress", "indices", "errors"),
    RingBuffer: ("records", "num_records", "num_episodes"),
}
MEMORIES: dict[str, Callable[[], Any]] = {
    "replay_memory": lambda: ReplayMemory(CAPACITY),
    "replay_memory with frames": lambda: ReplayMemory(CAPACITY, frame_stack=STACK),
    "prioritized_replay": lambda: PrioritizedReplay(CAPACITY),
    "prioritized_replay with frames": lambda: PrioritizedReplay(CAPACITY, frame_stack=STACK),
    "ring_buffer": lambda: RingBuffer(CAPACITY),
}


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each memory")
    parser.add_argument("--only", action="append", choices=MEMORIES)
    parser.add_argument("--inserting", type=int, default=8, help="threads that insert")
    parser.add_argument("--drawing", type=int, default=2, help="threads that draw")
    options = parser.parse_args()
    failures = []
    for name in options.only or MEMORIES:
        result = Stress(MEMORIES[name](), options.inserting, options.drawing).run(options.seconds)
        print(f"{name}: {result}", flush=True)
        failures += result.faults
    return verdict(failures[:10])


@dataclass(frozen=True)
class Result:
    """What a run has done, and what was wrong."""

    inserted: int
    drawn: int
    faults: list[str]

    def __str__(self) -> str:
        verdict = f"{len(self.faults)} FAULTS" if self.faults else "no fault"
        return f"{self.inserted:,} records inserted, {self.drawn:,} drawn, {verdict}"


class Stress:
    """Threads on one memory, through `GraphExecutor.execute`."""

    def __init__(self, memory: Any, inserting: int, drawing: int):
        self.memory, self.inserting, self.drawing = memory, inserting, drawing
        spaces = {name: SPACES[name] for name in ARGUMENTS.get(type(memory), ("records", "num_records"))}
        self.executor = GraphExecutor(memory, spaces, backend="numpy")
        self.inserted, self.drawn = [0] * inserting, [0] * drawing
        self.faults: list[str] = []
        self.stop = threading.Event()

    def run(self, seconds: float) -> Result:
        """Let all threads run for so long, then look at what is held."""
        threads = [
            threading.Thread(target=self._guarded, args=(self._insert, i)) for i in range(self.inserting)
        ]
        threads += [threading.Thread(target=self._guarded, args=(self._draw, i)) for i in range(self.drawing)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)  # take turns as often as possible
        try:
            for thread in threads:
                thread.start()
            self.stop.wait(seconds)
            self.stop.set()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        self._check_held()
        return Result(sum(self.inserted), sum(self.drawn), self.faults)

    def _guarded(self, work: Callable[[int], None], index: int) -> None:
        try:
            while not self.stop.is_set():
                work(index)
        except Exception as error:
            self.faults.append(f"{work.__name__}: {type(error).__name__}: {error}")
            self.stop.set()

    def _insert(self, thread: int) -> None:
        count = 1 + self.inserted[thread] % 5
        numbers = np.arange(self.inserted[thread], self.inserted[thread] + count)
        self.executor.execute("insert_records", records_of(np.full(count, thread), numbers))
        self.inserted[thread] += count

    def _draw(self, index: int) -> None:
        size = int(self.executor.execute("get_size"))
        if size == 0:
            time.sleep(0.001)
            return
        number = min(size, 32)
        if isinstance(self.memory, PrioritizedReplay):
            records, indices, _ = self.executor.execute("get_records", number, 0.0)
            errors = np.random.default_rng(index).random(number, np.float32)
            self.executor.execute("update_records", indices, errors)
        else:
            records = self.executor.execute("get_records", number)
        self._check_whole(records)
        self.drawn[index] += number

    def _check_whole(self, records: Any) -> None:
        for name, expected in records_of(records["thread"], records["number"]).items():
            if not np.array_equal(records[name], expected):
                self.faults.append(f"{name}: a record whose parts are not of one record")
                self.stop.set()

    def _check_held(self) -> None:
        """Of every thread its latest records, without a gap; together as many as there is room for."""
        view = self.executor.guarded.host_view(self.executor.built.graph.root)
        expected = min(sum(self.inserted), CAPACITY)
        records = view.read((view.oldest() + np.arange(expected)) % CAPACITY)
        self._check_whole(records)
        if int(self.executor.execute("get_size")) != expected:
            self.faults.append(f"it holds {self.executor.execute('get_size')} records, expected {expected}")
        for thread, inserted in enumerate(self.inserted):
            held = np.sort(records["number"][records["thread"] == thread])
            if not np.array_equal(held, np.arange(inserted - len(held), inserted)):
                self.faults.append(f"thread {thread}: records were lost, or are there twice")


def records_of(threads: np.ndarray, numbers: np.ndarray) -> dict[str, np.ndarray]:
    """The records of these threads and numbers; episodes of ten steps, each thread an environment."""
    return {
        "thread": threads,
        "number": numbers,
        "states": _stacks(threads, numbers, 0),
        "values": np.repeat((numbers + threads / 16)[:, None], 8, axis=1).astype(np.float32),
        "terminals": numbers % 10 == 9,
        "next_states": _stacks(threads, numbers, 1),
    }


def _stacks(threads: np.ndarray, numbers: np.ndarray, ahead: int) -> np.ndarray:
    """The last frames; those before an episode are its first one."""
    steps = np.maximum(numbers[:, None] + ahead + np.arange(1 - STACK, 1), numbers[:, None] // 10 * 10)
    episodes = numbers[:, None] // 10
    pixels = np.arange(SIDE * SIDE).reshape(SIDE, SIDE, 1)
    values = (threads[:, None] * 31 + steps * 7 + episodes * 13)[:, None, None, :] * (1 + pixels % 5) + pixels
    return values.astype(np.uint8)


if __name__ == "__main__":
    sys.exit(main())
