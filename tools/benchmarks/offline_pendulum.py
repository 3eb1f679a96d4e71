"""Does IQL make more of a data set than behaviour cloning?

Per seed, TD3 is trained on Pendulum-v1 for 3,000 steps, of which it needs some 10,000. Twenty episodes of its exploring
policy and thirty of random actions are the data set, on which IQL and behaviour cloning train. Each result is the mean
return of the last policy over 100 new episodes; "data" is that of the data set. Options were chosen on seeds from 101
on.

    python tools/benchmarks/offline_pendulum.py --results docs/results/offline_pendulum.json
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from seeds import run_seeds

from rlgraph.agents import Agent
from rlgraph.agents.data_sets import DataSetReader
from rlgraph.workers import record_data_set

ENV, EPISODES = "Pendulum-v1", 100
STEPS, RECORDED, RANDOM, UPDATES = 3000, 20, 30, 5000
TEACHER: dict[str, Any] = {
    "type": "td3",
    "network_spec": [64, 64],
    "discount": 0.98,
    "optimizer_spec": {"learning_rate": 1e-3},
    "update_spec": {"steps_before_update": 400, "update_interval": 1, "batch_size": 64},
}
LEARNER: dict[str, Any] = {
    "network_spec": [64, 64],
    "optimizer_spec": {"learning_rate": [1e-3, 0.0]},
    "update_spec": {"batch_size": 256},
}
BC: dict[str, Any] = {"type": "bc", **LEARNER}
IQL: dict[str, Any] = {
    "type": "iql",
    "discount": 0.98,
    "expectile": 0.9,
    "inverse_temperature": 3.0,
    "scale_rewards": True,
    **LEARNER,
}


def measure(seed: int) -> dict[str, Any]:
    """All results of one seed."""
    options = {"env": ENV, "backend": "torch", "execution_spec": {"threads": 1}, "seed": seed}
    teacher, chance = Agent.from_spec(TEACHER, **options), Agent.from_spec("random", **options)
    teacher.learn(STEPS)
    cloned, learned = Agent.from_spec(BC, **options), Agent.from_spec(IQL, **options)
    with tempfile.TemporaryDirectory() as folder:
        record_data_set(teacher, ENV, RECORDED, Path(folder) / "td3.npz", seed=seed)
        record_data_set(chance, ENV, RANDOM, Path(folder) / "random.npz", seed=seed)
        episodes = DataSetReader(teacher.state_space, teacher.action_space, "float64").read(folder)
        for agent in (cloned, learned):
            agent.learn(updates=UPDATES, data=folder)
    agents = {"random": chance, "td3": teacher, "bc": cloned, "iql": learned}
    data = float(np.mean([episode.rewards.sum() for episode in episodes]))
    means = {name: round(agent.evaluate(EPISODES).mean, 1) for name, agent in agents.items()}
    return {"seed": seed, "data": round(data, 1), **means}


if __name__ == "__main__":
    sizes = {"td3_steps": STEPS, "td3_episodes": RECORDED, "random_episodes": RANDOM, "updates": UPDATES}
    documents = {"td3": TEACHER, "bc": BC, "iql": IQL}
    run_seeds(__doc__, measure, {**sizes, "episodes": EPISODES, "documents": documents})
