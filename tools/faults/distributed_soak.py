#!/usr/bin/env python3
"""Trains on Ray for some minutes, kills an actor or shard every few seconds, and measures how memory grows.

    python3 tools/faults/distributed_soak.py --minutes 30 --kill-every 20

The learner's process and the oldest actor, which is spared, are read every few seconds. Prints a line per minute and
both slopes (least squares) over all but the first third; exit code 1 if one is above the limit. Updates are slowed
down, so that the tool needs little of the machine.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from harness import Memory, hosts, parser_of, small_agent

LIMIT = 0.1  # MB per minute
WARM_UP = 1 / 3  # of the time
PAUSE = 0.2  # seconds after each update


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kill-every", type=float, default=20.0, help="seconds")
    parser.add_argument("--flow", choices=("sync_batch", "impala", "apex"), default="apex")
    options = parser.parse_args()
    from rlgraph.core import registry
    from rlgraph.workers import Callback

    draws, memory = random.Random(options.seed), Memory(options.minutes, WARM_UP, LIMIT)

    class Soak(Callback):
        """Reads the memory, kills, slows training down, and ends it in time."""

        def __init__(self) -> None:
            self.oldest, self.kills, self.next_kill = 0, 0, options.kill_every

        def processes(self) -> list[int]:
            self.oldest = self.oldest or hosts()[0]
            return [os.getpid(), self.oldest]

        def on_update(self, worker: Any, results: Mapping[str, float]) -> bool:
            time.sleep(PAUSE)
            is_over = memory.read(worker.timesteps, self.processes)
            is_due = memory.seconds >= self.next_kill
            if is_due and (victims := [number for number in hosts() if number != self.oldest]):
                self.next_kill += options.kill_every
                os.kill(draws.choice(victims), signal.SIGKILL)
                self.kills += 1
            return is_over

    # The memory of Ape-X is full after the first minute.
    executor = registry("rlgraph.executors").load(options.flow)(
        small_agent(options.flow, capacity=2000, update_interval=16),
        "CartPole-v1",
        backend="torch",
        engine={"type": "ray", "num_cpus": 3},
        actors=3,
        num_envs=2,
        seed=options.seed,
        max_actor_restarts=10**6,
    )
    soaking = Soak()
    result = executor.execute(steps=10**9, callbacks=soaking)
    restarts = executor.actor_restarts + getattr(executor, "shard_restarts", 0)
    happened = f"and {soaking.kills} kills, {restarts} restarts, {result.timesteps:,} steps"
    return memory.verdict([f"{options.flow}: learner", "oldest actor"], happened)


if __name__ == "__main__":
    sys.exit(main())
