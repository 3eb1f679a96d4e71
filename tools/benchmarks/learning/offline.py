"""Do agents learn from a data set, without an environment?

Per seed, PPO is trained on CartPole-v1. Behaviour cloning learns from 20 episodes of its greedy policy, DQN from 20
episodes of its drawn actions and 450 of random ones, about as many steps. Each result is the mean return of the last
policy over 100 new episodes. Options were chosen on seeds from 101 on.

    python tools/benchmarks learning/offline --results docs/results/offline_cartpole.json
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from learning.seeds import run_seeds

from rlgraph.agents import Agent
from rlgraph.workers import record_data_set

ENV, EPISODES = "CartPole-v1", 100
STEPS, RECORDED, RANDOM = 60_000, 20, 450
BC: dict[str, Any] = {"type": "bc"}
BC_UPDATES = 2000
DQN: dict[str, Any] = {
    "type": "dqn",
    "n_step": 3,
    "sync_interval": 500,
    "memory_spec": {"capacity": 30_000},
    "optimizer_spec": {"learning_rate": [1e-3, 0.0]},
}
DQN_UPDATES = 20_000


def measure(seed: int) -> dict[str, Any]:
    """All results of one seed."""
    options = {"env": ENV, "backend": "torch", "execution_spec": {"threads": 1}, "seed": seed}
    teacher = Agent.from_spec("ppo", **options)
    teacher.learn(STEPS)
    chance = Agent.from_spec("random", **options)
    cloned, learned = Agent.from_spec(BC, **options), Agent.from_spec(DQN, **options)
    with tempfile.TemporaryDirectory() as folder:
        shown = record_data_set(
            teacher, ENV, RECORDED, Path(folder) / "ppo.npz", use_exploration=False, seed=seed
        )
        cloned.learn(updates=BC_UPDATES, data=shown)
        record_data_set(teacher, ENV, RECORDED, Path(folder) / "both" / "ppo.npz", seed=seed)
        record_data_set(chance, ENV, RANDOM, Path(folder) / "both" / "random.npz", seed=seed)
        learned.learn(updates=DQN_UPDATES, data=Path(folder) / "both")
    agents = {"random": chance, "ppo": teacher, "bc": cloned, "dqn": learned}
    means = {name: round(agent.evaluate(EPISODES).mean, 1) for name, agent in agents.items()}
    return {"seed": seed, **means}


def main() -> None:
    sizes = {"ppo_steps": STEPS, "ppo_episodes": RECORDED, "random_episodes": RANDOM}
    updates = {"bc_updates": BC_UPDATES, "dqn_updates": DQN_UPDATES, "episodes": EPISODES}
    run_seeds(__doc__, measure, {**sizes, **updates, "documents": {"bc": BC, "dqn": DQN}})
