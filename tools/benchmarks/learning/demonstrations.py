"""Does DQfD need fewer steps than DQN where a reward is rarely found?

Per seed, a script plays five episodes of MountainCar-v0: it pushes in the direction in which the car moves. DQfD
trains on them and then makes 20,000 steps of its own. DQN makes as many with the same options; behaviour cloning
imitates the five episodes. Each result is the mean return of the last policy over 100 new episodes; "curve" has DQfD's
over 20 episodes, every 4,000 steps, from before the first one. Options were chosen on seeds from 101 on.

    python tools/benchmarks learning/demonstrations --results docs/results/dqfd_mountain_car_v0.json
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning.seeds import run_seeds

from rlgraph.agents import Agent
from rlgraph.workers import record_data_set

ENV, EPISODES, SHOWN = "MountainCar-v0", 100, 5
PRETRAINING, STEPS, BC_UPDATES = 2000, 20_000, 2000
SHARED: dict[str, Any] = {
    "network_spec": [64, 64],
    "discount": 0.99,
    "optimizer_spec": {"learning_rate": [2e-3, 0.0]},
    "update_spec": {"batch_size": 64, "update_interval": 2},
    "sync_interval": 250,
}
DQFD: dict[str, Any] = {
    "type": "dqfd",
    # Own steps would outnumber the demonstrations in batches soon.
    "memory_spec": {"capacity": 10**5, "demonstration_epsilon": 30.0},
    "exploration_spec": {"epsilon_spec": [0.1, 0.01]},
    **SHARED,
}
DQN: dict[str, Any] = {
    "type": "dqn",
    "n_step": 10,
    "memory_spec": {"type": "prioritized_replay", "capacity": 10**5},
    "exploration_spec": {"epsilon_spec": [1.0, 0.01]},
    **SHARED,
}


def push(state: Any) -> int:
    """In the direction in which the car moves."""
    return 2 if state[1] >= 0.0 else 0


def measure(seed: int) -> dict[str, Any]:
    """All results of one seed."""
    options = {"env": ENV, "backend": "torch", "execution_spec": {"threads": 1}, "seed": seed}

    def make(spec: Mapping[str, Any]) -> Agent:
        return Agent.from_spec(spec, **options)

    agents = {"bc": make({"type": "bc"}), "dqfd": make(DQFD), "dqn": make(DQN)}
    with tempfile.TemporaryDirectory() as folder:
        shown = record_data_set(push, ENV, SHOWN, Path(folder) / "shown.npz", seed=seed)
        agents["bc"].learn(updates=BC_UPDATES, data=shown)
        agents["dqfd"].learn(updates=PRETRAINING, data=shown)
    curve = [agents["dqfd"].evaluate(20).mean]
    trained = agents["dqfd"].learn(STEPS, evaluation_interval=4000, evaluation_episodes=20)
    curve += [evaluation.mean for evaluation in trained.evaluations]
    agents["dqn"].learn(STEPS)
    means = {name: round(agent.evaluate(EPISODES).mean, 1) for name, agent in agents.items()}
    return {"seed": seed, **means, "curve": [round(mean, 1) for mean in curve]}


def main() -> None:
    sizes = {"demonstrations": SHOWN, "pretraining": PRETRAINING, "steps": STEPS}
    documents = {"dqfd": DQFD, "dqn": DQN, "bc": {"type": "bc"}}
    run_seeds(
        __doc__, measure, {**sizes, "bc_updates": BC_UPDATES, "episodes": EPISODES, "documents": documents}
    )
