#!/usr/bin/env python3
"""Trains on Ray for some minutes, kills an actor or shard every few seconds, and measures how memory grows.

    python3 tools/distributed_soak.py --minutes 30 --kill-every 20

The learner's process and the oldest actor, which is spared, are read every few seconds. Prints a line per minute and
both slopes (least squares) over all but the first third; exit code 1 if one is above the limit. Updates are slowed
down, so that the tool needs little of the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from devlib.actor_hosts import hosts, resident
from soak import slope_of

LIMIT = 0.1  # MB per minute
WARM_UP = 1 / 3  # of the time
INTERVAL = 5.0  # seconds between two readings
PAUSE = 0.2  # seconds after each update


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kill-every", type=float, default=20.0, help="seconds")
    parser.add_argument("--flow", choices=("sync_batch", "impala", "apex"), default="apex")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    readings, lines = soak(options)
    warm = [reading for reading in readings if reading[0] >= WARM_UP * options.minutes]
    slopes = [slope_of([(minutes, *[sizes[place]]) for minutes, *sizes in warm]) for place in (0, 1)]
    verdict = "met" if max(slopes) <= LIMIT else "missed"
    print(
        f"{options.flow}: learner {slopes[0]:+.3f}, oldest actor {slopes[1]:+.3f} MB/min over {options.minutes:g} "
        f"minutes and {lines}, target <= {LIMIT:g}: {verdict}"
    )
    return 0 if max(slopes) <= LIMIT else 1


def soak(options: argparse.Namespace) -> tuple[list[tuple[float, float, float]], str]:
    """Train; (minutes, MB of the learner, MB of the oldest actor), and what happened."""
    from rlgraph.workers import Callback

    draws = random.Random(options.seed)

    class Soak(Callback):
        """Reads the memory, kills, slows training down, and ends it in time."""

        def __init__(self) -> None:
            self.began, self.readings = time.monotonic(), list[tuple[float, float, float]]()
            self.due = {"reading": 0.0, "line": 0.0, "kill": options.kill_every}
            self.oldest, self.kills = 0, 0

        def on_update(self, worker: Any, results: Mapping[str, float]) -> bool:
            time.sleep(PAUSE)
            seconds = time.monotonic() - self.began
            if seconds >= self.due["reading"]:
                self.due["reading"] = seconds + INTERVAL
                self.oldest = self.oldest or hosts()[0]
                self.readings.append((seconds / 60, resident(os.getpid()), resident(self.oldest)))
            if seconds >= self.due["kill"] and (victims := [n for n in hosts() if n != self.oldest]):
                self.due["kill"] += options.kill_every
                os.kill(draws.choice(victims), signal.SIGKILL)
                self.kills += 1
            if seconds >= self.due["line"]:
                self.due["line"] = seconds + 60
                minutes, *sizes = self.readings[-1]
                shown = " ".join(f"{size:8.1f}" for size in sizes)
                print(f"{minutes:5.1f} min {worker.timesteps:>10,} steps {shown} MB", flush=True)
            return seconds >= 60 * options.minutes

    soaking = Soak()
    executor = make(options)
    result = executor.execute(steps=10**9, callbacks=soaking)
    restarts = executor.actor_restarts + getattr(executor, "shard_restarts", 0)
    return soaking.readings, f"{soaking.kills} kills, {restarts} restarts, {result.timesteps:,} steps"


def make(options: argparse.Namespace) -> Any:
    """Three small actors; the memory of Ape-X is full after the first minute."""
    from rlgraph.core import registry

    agents: dict[str, dict[str, Any]] = {
        "sync_batch": {"type": "ppo", "rollout_length": 16, "num_epochs": 1, "num_minibatches": 1},
        "impala": {"type": "impala", "rollout_length": 16},
        "apex": {
            "type": "apex",
            "memory_spec": {"capacity": 2000},
            "update_spec": {"steps_before_update": 200, "update_interval": 16, "batch_size": 16},
        },
    }
    agent = {**agents[options.flow], "network_spec": [16], "execution_spec": {"threads": 1}}
    return registry("rlgraph.executors").load(options.flow)(
        agent,
        "CartPole-v1",
        engine={"type": "ray", "num_cpus": 3},
        actors=3,
        num_envs=2,
        backend="torch",
        seed=options.seed,
        max_actor_restarts=10**6,
    )


if __name__ == "__main__":
    sys.exit(main())
