#!/usr/bin/env python3
"""Trains for some minutes and measures how the resident memory of the process grows after warm-up.

    python3 tools/soak.py --minutes 30 --backend torch

Prints a line per minute and the slope (least squares) over all but the first fifth; exit code 1 if it is above the
limit. The run is a whole one: reports, evaluations, checkpoints, TensorBoard events.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LIMIT = 1.0  # MB per minute
WARM_UP = 0.2  # of the time
INTERVAL = 5.0  # seconds between two readings


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--num-envs", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="soak.") as folder:
        readings = soak(Path(folder), options)
    slope = slope_of([reading for reading in readings if reading[0] >= WARM_UP * options.minutes])
    verdict = "met" if slope < LIMIT else "missed"
    print(
        f"{slope:+.3f} MB/min over {options.minutes:g} minutes on {options.backend}, target < {LIMIT:g}: {verdict}"
    )
    return 0 if slope < LIMIT else 1


def soak(folder: Path, options: argparse.Namespace) -> list[tuple[float, float]]:
    """Train; (minutes, MB resident)."""
    from rlgraph.runs import train
    from rlgraph.workers import Callback, SingleThreadedWorker

    class Reading(Callback):
        """Reads the memory every few seconds and ends the run in time."""

        def __init__(self) -> None:
            self.began, self.readings = time.monotonic(), list[tuple[float, float]]()
            self.next_reading, self.next_line = 0.0, 0.0

        def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, Any]) -> bool:
            seconds = time.monotonic() - self.began
            if seconds >= self.next_reading:
                self.next_reading = seconds + INTERVAL
                self.readings.append((seconds / 60, resident()))
            if seconds >= self.next_line:
                self.next_line = seconds + 60
                print(
                    f"{seconds / 60:5.1f} min {worker.timesteps:>12,} steps {resident():9.1f} MB", flush=True
                )
            return seconds >= 60 * options.minutes

    reading = Reading()
    train(document(options), folder / "run", [reading])
    return reading.readings


def document(options: argparse.Namespace) -> dict[str, Any]:
    """A memory that is full after the first minute, so that what grows is not the memory."""
    layer = {"type": "dense", "units": 64, "activation": "relu"}
    return {
        "agent": {
            "type": "dqn",
            "network_spec": [layer, layer],
            "memory_spec": {"capacity": 20_000},
            "update_spec": {"update_interval": 4, "batch_size": 64},
            "sync_interval": 500,
            "exploration_spec": {"epsilon_spec": 0.1},
        },
        "environment": "CartPole-v1",
        "backend": options.backend,
        "steps": 10**9,
        "worker": {"num_envs": options.num_envs},
        "evaluation": {"interval": 50_000, "episodes": 5, "final_episodes": 1},
        "checkpoints": {"interval": 100_000},
    }


def resident() -> float:
    """MB of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def slope_of(readings: list[tuple[float, float]]) -> float:
    """Least squares: MB per minute."""
    count = len(readings)
    if count < 2:
        return float("nan")
    x_mean = sum(x for x, _ in readings) / count
    y_mean = sum(y for _, y in readings) / count
    spread = sum((x - x_mean) ** 2 for x, _ in readings)
    return sum((x - x_mean) * (y - y_mean) for x, y in readings) / spread


if __name__ == "__main__":
    sys.exit(main())
