#!/usr/bin/env python3
"""Trains for some minutes and measures how the resident memory of the process grows after warm-up.

    python3 tools/faults/soak.py --minutes 30 --backend torch

Prints a line per minute and the slope (least squares) over all but the first fifth; exit code 1 if it is above the
limit. The run is a whole one: reports, evaluations, checkpoints, TensorBoard events.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import Memory, parser_of

LIMIT = 1.0  # MB per minute
WARM_UP = 0.2  # of the time


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--num-envs", type=int, default=1)
    options = parser.parse_args()
    from rlgraph.runs import train
    from rlgraph.workers import Callback, SingleThreadedWorker

    memory = Memory(options.minutes, WARM_UP, LIMIT)

    class Reading(Callback):
        """Reads the memory every few seconds and ends the run in time."""

        def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, Any]) -> bool:
            return memory.read(worker.timesteps, lambda: [os.getpid()])

    with tempfile.TemporaryDirectory(prefix="soak.") as folder:
        train(document(options), Path(folder) / "run", [Reading()])
    return memory.verdict([""], f"on {options.backend}")


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


if __name__ == "__main__":
    sys.exit(main())
