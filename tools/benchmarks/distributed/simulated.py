"""Executors in virtual time against the same on Ray, and with up to 4,096 actors.

For each flow: costs are measured; runs with 1, 2 and 4 actors on Ray are compared with simulated ones that share the
cores of this machine; runs with more actors, each with a core of its own, are simulated.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.agents import Agent
from rlgraph.core import registry
from rlgraph.execution.ray.engine import RayEngine
from rlgraph.execution.simulation import Costs, Simulated, measure, simulate
from rlgraph.workers import Callback

LAYERS = [{"type": "dense", "units": 64, "activation": "tanh"}] * 2
ONE_THREAD = {"threads": 1}
#: Flow -> agent.
AGENTS: dict[str, dict[str, Any]] = {
    "impala": {"type": "impala", "network_spec": LAYERS, "rollout_length": 20},
    "sync_batch": {"type": "ppo", "network_spec": LAYERS, "rollout_length": 128, "num_epochs": 4},
    "apex": {
        "type": "apex",
        "network_spec": LAYERS,
        "memory_spec": {"capacity": 50_000},
        "update_spec": {"steps_before_update": 2000, "update_interval": 64, "batch_size": 64},
    },
}
COMPARED, SIMULATED = (1, 2, 4), (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Halves(Callback):
    """Steps, seconds and updates at the reports."""

    def __init__(self) -> None:
        self.readings: list[tuple[int, float, int]] = []

    def on_report(self, worker: Any, metrics: Any) -> None:
        self.readings.append((worker.timesteps_of_run, worker.seconds, worker.agent.updates))


def on_ray(engine: RayEngine, flow: str, actors: int, steps: int) -> float:
    """Steps per second in the second half of a run."""
    agent = Agent.from_spec(
        {**AGENTS[flow], "execution_spec": ONE_THREAD}, env="CartPole-v1", backend="torch", seed=1
    )
    halves = Halves()
    executor = registry("rlgraph.executors").load(flow)(
        agent, "CartPole-v1", engine=engine, actors=actors, num_envs=8, report_interval=steps // 2
    )
    executor.execute(steps=steps, callbacks=halves)
    (before, begun, _), (after, ended, _) = halves.readings[0], halves.readings[-1]
    return (after - before) / (ended - begun)


def _loops(seconds: float) -> int:
    """How often a little work is done in some seconds."""
    weights, state, number, until = np.ones((64, 64)), np.ones((8, 64)), 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(20):
            np.tanh(state @ weights)
        number += 1
    return number


def cores_of_this_machine() -> float:
    """How much more processes do on all CPUs than one does: threads of one core share it."""
    number = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(number) as pool:
        alone = pool.submit(_loops, 2.0).result()
        together = sum(pool.map(_loops, [2.0] * number))
    return together / alone


def simulated(flow: str, costs: Costs, actors: int, cores: float) -> Simulated:
    return simulate(AGENTS[flow], "CartPole-v1", costs, actors, executor=flow, cores=cores, num_envs=8)


def compared(flow: str, seconds: float) -> dict[str, Any]:
    """The costs of a flow, and measured and simulated speeds."""
    engine = RayEngine(num_cpus=2, cpus_per_actor=0.25)
    agent = {**AGENTS[flow], "execution_spec": ONE_THREAD}
    costs = measure(agent, "CartPole-v1", backend="torch", engine=engine, executor=flow, num_envs=8)
    cores = cores_of_this_machine()
    print(costs, f"{cores:.2f} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    found = []
    for actors in COMPARED:
        expected = simulated(flow, costs, actors, cores).steps_per_second
        rates = [on_ray(engine, flow, actors, int(expected * seconds)) for _ in range(3)]
        found.append({"actors": actors, "simulated": expected, "measured": rates})
        print(flow, found[-1], flush=True)
    engine.close()
    return {"costs": asdict(costs), "cores": cores, "load": os.getloadavg()[0], "compared": found}


def scaled(flow: str, costs: Costs) -> list[dict[str, Any]]:
    """With a core for each actor."""
    rows = []
    for actors in SIMULATED:
        result = simulated(flow, costs, actors, float("inf"))
        rows.append(
            {
                "actors": actors,
                "steps_per_second": result.steps_per_second,
                "updates_per_second": result.updates_per_second,
                "weights_age": result.metrics["weights_age"],
                "idle": result.idle,
                "limit": result.limit,
            }
        )
        print(flow, rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flow", choices=AGENTS)
    parser.add_argument("file", type=Path, help="JSON; what other flows wrote stays")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each run on Ray")
    parser.add_argument(
        "--simulate", action="store_true", help="with the costs in the file, up to 4,096 actors"
    )
    options = parser.parse_args()
    results = json.loads(options.file.read_text()) if options.file.exists() else {}
    flow = results.setdefault(options.flow, {})
    if options.simulate:
        flow["simulated"] = scaled(options.flow, Costs(**flow["costs"]))
    else:
        flow |= compared(options.flow, options.seconds)
    options.file.write_text(json.dumps(results, indent=1) + "\n")
