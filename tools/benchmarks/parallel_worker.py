#!/usr/bin/env python3
"""The parallel worker against the single threaded one with processes: 8 environments that take 2 ms for a step."""

from __future__ import annotations

import time
from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

from rlgraph.environments import DeterministicEnv

STEPS = 800
OPTIONS: dict[str, Any] = {"num_envs": 8, "processes": 4, "report_interval": 10**6}


class SlowEnv(DeterministicEnv):
    """Waits for 2 ms in every step, as for a simulator on another machine."""

    def __init__(self) -> None:
        super().__init__(steps_to_terminal=100)

    def step(self, action: Any) -> Any:
        time.sleep(0.002)
        return super().step(action)


def main() -> None:
    options = arguments(__doc__).parse_args()
    use_one_thread()
    from rlgraph.workers import ParallelWorker, SingleThreadedWorker

    workers = {
        "single threaded, in turn": SingleThreadedWorker(_agent(options.backend), SlowEnv, num_envs=8),
        "single threaded, processes": SingleThreadedWorker(
            _agent(options.backend), SlowEnv, vectorization="processes", **OPTIONS
        ),
        "parallel": ParallelWorker(_agent(options.backend), SlowEnv, **OPTIONS),
    }
    subjects = {
        name: (lambda worker=worker: worker.execute_timesteps(STEPS)) for name, worker in workers.items()
    }
    figures = interleaved(subjects, rounds=5, blocks=1, single=True)
    yardstick = figures["single threaded, processes"]
    rows = [
        Row(
            name,
            figure.times(1e3 / STEPS),
            "ms/step",
            None if figure is yardstick else yardstick.over(figure),
            1.0 if name == "parallel" else None,
            at_least=True,
        )
        for name, figure in figures.items()
    ]
    for worker in workers.values():
        worker.terminate()
    report("workers, 8 environments of 2 ms", rows, ("numpy", "rlgraph-agents"), options.json)


def _agent(backend: str) -> Any:
    from rlgraph.agents import Agent

    spec = {
        "type": "dqn",
        "network_spec": [{"type": "dense", "units": 256, "activation": "relu"}] * 2,
        "update_spec": {"update_interval": 4, "batch_size": 64, "steps_before_update": 64},
        "memory_spec": {"type": "replay_memory", "capacity": 10_000},
    }
    return Agent.from_spec(spec, env=SlowEnv, backend=backend, seed=1)


if __name__ == "__main__":
    main()
