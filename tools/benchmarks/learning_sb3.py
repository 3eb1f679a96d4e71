#!/usr/bin/env python3
"""Does the DQN of Stable-Baselines3 learn CartPole-v1, on every seed? The last policy, for comparison with ours.

The hyper-parameters are those of the RL Baselines3 Zoo for this task. It needs an interpreter with Stable-Baselines3
(`train.py` makes one), and adds its figures to a file of results that `learning.py` wrote:

    .venvs/bench-sb3/bin/python tools/benchmarks/learning_sb3.py docs/agents/results/dqn_cartpole_v1_last.json
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.evaluation import evaluate_policy

STEPS, EPISODES, SEEDS = 50_000, 100, (1, 2, 3, 4, 5)
OPTIONS: dict[str, Any] = {
    "learning_rate": 2.3e-3,
    "batch_size": 64,
    "buffer_size": 100_000,
    "learning_starts": 1000,
    "gamma": 0.99,
    "target_update_interval": 10,
    "train_freq": 256,
    "gradient_steps": 128,
    "exploration_fraction": 0.16,
    "exploration_final_eps": 0.04,
    "policy_kwargs": {"net_arch": [256, 256]},
}
PACKAGES = ("stable-baselines3", "torch", "gymnasium", "numpy")


def measure(seed: int) -> dict[str, Any]:
    """Train one seed; judge its last policy, greedily, in new episodes."""
    started = time.perf_counter()
    model = DQN("MlpPolicy", gymnasium.make("CartPole-v1"), seed=seed, device="cpu", **OPTIONS)
    model.learn(STEPS)
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1_000_000 + seed)
    returns: Any = evaluate_policy(model, env, EPISODES, return_episode_rewards=True, warn=False)[0]
    return {
        "seed": seed,
        "mean": round(float(np.mean(returns)), 3),
        "std": round(float(np.std(returns)), 3),
        "lowest": round(float(min(returns)), 3),
        "policy_of_step": STEPS,
        "steps": STEPS,
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path)
    file = parser.parse_args().results
    torch.set_num_threads(1)
    content = json.loads(file.read_text())
    runs: list[dict[str, Any]] = []
    for seed in SEEDS:
        runs.append(run := measure(seed))
        print(run, flush=True)
    versions = {"python": platform.python_version(), **{p: importlib.metadata.version(p) for p in PACKAGES}}
    measurement = {"compiled": False, "versions": versions, "options": OPTIONS, "runs": runs}
    content["measurements"]["sb3"] = measurement
    file.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
