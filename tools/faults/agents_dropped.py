#!/usr/bin/env python3
"""Builds agents, trains them briefly, drops them, and measures what memory each leaves behind.

    python3 tools/faults/agents_dropped.py --backend tf --agents ppo dqn sac --count 30

The agents are made by turns in one process. Prints the growth per agent (least squares over all but the first third),
and which of them still exist. Exit code 1 if one exists, or if they leave more than the limit.
"""

from __future__ import annotations

import gc
import os
import sys
import weakref
from typing import Any

from harness import parser_of, resident, slope_of, verdict

#: MB that an agent may leave: allocators keep some, and frameworks caches.
LIMIT = 1.0
LAYERS = [{"type": "dense", "units": 32, "activation": "tanh"}]
UPDATES = {"update_spec": {"batch_size": 16}, "memory_spec": {"capacity": 500}}
OPTIONS: dict[str, dict[str, Any]] = {
    "ppo": {"rollout_length": 32},
    "a2c": {"rollout_length": 16},
    "impala": {"rollout_length": 16},
    "dqn": {**UPDATES, "memory_spec": {"type": "prioritized_replay", "capacity": 500}},
    "sac": UPDATES,
    "td3": UPDATES,
}


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--backend", default="tf")
    parser.add_argument("--agents", nargs="+", default=["ppo", "dqn", "sac"], choices=OPTIONS)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    made, readings = list[weakref.ref[Any]](), list[tuple[float, float]]()
    for number in range(options.count):
        kind = options.agents[number % len(options.agents)]
        made.append(_use(kind, options.backend, options.compiled, number))
        gc.collect()
        readings.append((number, resident(os.getpid())))
        print(f"{number + 1} {kind}: {readings[-1][1]:.1f} MB", flush=True)
    left = [reference() for reference in made if reference() is not None]
    slope = slope_of(readings[options.count // 3 :])
    problems = [f"{len(left)} agents still exist"] if left else []
    problems += [f"{slope:.2f} MB per agent, expected <= {LIMIT:g}"] if slope > LIMIT else []
    mode = "compiled" if options.compiled else "eager"
    names = ", ".join(options.agents)
    done = f"{slope:+.2f} MB per agent, {options.count} agents ({names}) on {options.backend}, {mode}"
    return verdict(problems, done)


def _use(kind: str, backend: str, compiled: bool, seed: int) -> weakref.ref[Any]:
    from rlgraph.agents import Agent

    env = "Pendulum-v1" if kind in ("sac", "td3") else "CartPole-v1"
    execution = {"threads": 1, "compile": compiled}
    spec = {"type": kind, "network_spec": LAYERS, "execution_spec": execution, **OPTIONS[kind]}
    agent = Agent.from_spec(spec, env=env, backend=backend, seed=seed)
    agent.learn(128, num_envs=2)
    return weakref.ref(agent)


if __name__ == "__main__":
    sys.exit(main())
