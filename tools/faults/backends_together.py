#!/usr/bin/env python3
"""Trains agents of several backends in one process, by turns and in threads: each must learn what it learns alone.

    python3 tools/faults/backends_together.py --backends torch tf --rounds 3

Each agent trains on an environment of its own. By turns, each does some steps, and then the next one; in threads, all
train at once, and are built at once. Weights must equal those of the same agent alone, bit for bit. Exit code 1 if one
differs, or if the threads do not end.
"""

from __future__ import annotations

import faulthandler
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
from agents_dropped import LAYERS, OPTIONS
from harness import parser_of, verdict

#: Steps of each part of a training, parts, and seconds until a round counts as hanging.
STEPS, PARTS, LIMIT = 96, 3, 280.0


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument("--backends", nargs="+", default=["torch", "tf"])
    parser.add_argument("--agents", nargs="+", default=["ppo", "dqn", "sac"], choices=OPTIONS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    draws, problems = random.Random(options.seed), list[str]()
    keys = list(product(options.backends, options.agents))
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    alone = {key: trained(*key) for key in keys}
    for number in range(options.rounds):
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        draws.shuffle(keys)
        problems += [f"by turns, {problem}" for problem in differences(alone, by_turns(keys))]
        with ThreadPoolExecutor(len(keys)) as pool:
            futures = {key: pool.submit(trained, *key) for key in keys}
            together = {key: future.result() for key, future in futures.items()}
        problems += [f"in threads, {problem}" for problem in differences(alone, together)]
        print(f"round {number + 1}: {len(keys)} agents by turns and in threads {problems or ''}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return verdict(
        problems, f"{options.rounds} rounds of {len(keys)} agents on {', '.join(options.backends)}"
    )


def make(backend: str, kind: str) -> Any:
    from rlgraph.agents import Agent

    env = "Pendulum-v1" if kind in ("sac", "td3") else "CartPole-v1"
    spec = {"type": kind, "network_spec": LAYERS, "execution_spec": {"threads": 1}, **OPTIONS[kind]}
    return Agent.from_spec(spec, env=env, backend=backend, seed=5)


def trained(backend: str, kind: str) -> dict[str, np.ndarray]:
    """The weights of an agent that trains without a pause."""
    agent = make(backend, kind)
    for _ in range(PARTS):
        agent.learn(STEPS, num_envs=2)
    return dict(agent.get_weights())


def by_turns(keys: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    agents = {key: make(*key) for key in keys}
    for _ in range(PARTS):
        for agent in agents.values():
            agent.learn(STEPS, num_envs=2)
    return {key: dict(agent.get_weights()) for key, agent in agents.items()}


def differences(alone: dict[Any, Any], together: dict[Any, Any]) -> list[str]:
    """The agents whose weights differ, and which weights."""
    return [
        f"{' '.join(key)}: {name} differs"
        for key, weights in together.items()
        for name, value in weights.items()
        if not np.array_equal(value, alone[key][name])
    ]


if __name__ == "__main__":
    sys.exit(main())
