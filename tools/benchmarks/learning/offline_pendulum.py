"""Does IQL make more of a data set than behaviour cloning?

The data set of a seed has twenty episodes of Pendulum-v1 by a script that swings the pendulum up, every second action
of which is random, and thirty episodes of random actions. Most actions of the script lie at their bounds, so both
agents have clipped normal distributions. IQL and behaviour cloning train on the data set. Each result is the mean
return of the last policy over 100 new episodes; "script" is that of the script alone over 20, "data" that of the data
set. Options were chosen on seed 101.

    python tools/benchmarks learning/offline_pendulum --results docs/results/offline_pendulum.json
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from learning.seeds import run_seeds

from rlgraph.agents import Agent
from rlgraph.experience.data_sets import DataSetReader
from rlgraph.workers import record_data_set

ENV, EPISODES = "Pendulum-v1", 100
RECORDED, RANDOM, UPDATES, SHARE, TORQUE = 20, 30, 3000, 0.5, 2.0
LEARNER: dict[str, Any] = {
    "network_spec": [64, 64],
    "distributions_spec": {"bounded_distribution_type": "clipped_normal"},
    "optimizer_spec": {"learning_rate": [1e-3, 0.0]},
    "update_spec": {"batch_size": 256},
}
BC: dict[str, Any] = {"type": "bc", **LEARNER}
IQL: dict[str, Any] = {
    "type": "iql",
    "discount": 0.98,
    "expectile": 0.9,
    "inverse_temperature": 10.0,
    "tau": 0.02,
    "scale_rewards": True,
    **LEARNER,
}


def swing_up(state: Any) -> np.ndarray:
    """Adds energy until it is that of standing upright, and balances there."""
    cosine, sine, speed = state
    if cosine > 0.9:
        torque = -(10.0 * np.arctan2(sine, cosine) + 2.0 * speed)
    else:
        missing = 5.0 - (speed**2 / 6.0 + 5.0 * cosine)
        torque = TORQUE if speed * missing >= 0.0 else -TORQUE
    return np.clip([torque], -TORQUE, TORQUE).astype(np.float32)


def measure(seed: int) -> dict[str, Any]:
    """All results of one seed."""
    options = {"env": ENV, "backend": "torch", "execution_spec": {"threads": 1}, "seed": seed}
    chance = Agent.from_spec("random", **options)
    agents = {"random": chance, "bc": Agent.from_spec(BC, **options), "iql": Agent.from_spec(IQL, **options)}
    rng = np.random.default_rng(seed)

    def half_random(state: Any) -> np.ndarray:
        if rng.random() < SHARE:
            return rng.uniform(-TORQUE, TORQUE, 1).astype(np.float32)
        return swing_up(state)

    with tempfile.TemporaryDirectory() as folder:
        record_data_set(half_random, ENV, RECORDED, Path(folder) / "script.npz", seed=seed)
        record_data_set(chance, ENV, RANDOM, Path(folder) / "random.npz", seed=seed)
        reader = DataSetReader(chance.state_space, chance.action_space, "float64")
        data = _mean_return(reader, folder)
        for name in ("bc", "iql"):
            agents[name].learn(updates=UPDATES, data=folder)
        best = _mean_return(reader, record_data_set(swing_up, ENV, 20, Path(folder) / "best.npz", seed=seed))
    means = {name: round(agent.evaluate(EPISODES).mean, 1) for name, agent in agents.items()}
    return {"seed": seed, "script": best, "data": data, **means}


def _mean_return(reader: DataSetReader, place: str | Path) -> float:
    return round(float(np.mean([episode.rewards.sum() for episode in reader.read(place)])), 1)


def main() -> None:
    sizes = {
        "script_episodes": RECORDED,
        "random_share": SHARE,
        "random_episodes": RANDOM,
        "updates": UPDATES,
    }
    run_seeds(__doc__, measure, {**sizes, "episodes": EPISODES, "documents": {"bc": BC, "iql": IQL}})
