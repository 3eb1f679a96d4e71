"""Does fine-tuning pay? PPO, trained on CartPole, continues with a pole twice as long and half the force.

Per seed, the last policy over 100 fresh episodes: as trained, in the other environment; after 20,480 steps there from
all weights of the trained agent, from its networks' hidden layers, and from scratch. The environment was chosen on
seeds from 101 on.

    python tools/benchmarks learning/fine_tuning --results docs/results/fine_tuning_long_pole.json
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import gymnasium
from learning.seeds import run_seeds

from rlgraph.agents import Agent

STEPS, MORE_STEPS, EPISODES = 100_000, 20_480, 100
#: What is taken over, by the name of the result.
PARTS: dict[str, Any] = {"all_weights": None, "hidden_layers": "*/network", "from_scratch": []}


def long_pole() -> gymnasium.Env[Any, Any]:
    """CartPole-v1 with a pole twice as long and half the force."""
    env: Any = gymnasium.make("CartPole-v1")
    physics = env.unwrapped
    physics.length, physics.force_mag = 1.0, 5.0
    physics.polemass_length = physics.masspole * physics.length
    return env


def measure(seed: int) -> dict[str, Any]:
    """All results of one seed."""
    options = {"env": "CartPole-v1", "backend": "torch", "execution_spec": {"threads": 1}}
    agent = Agent.from_spec("ppo", seed=seed, **options)
    agent.learn(STEPS)
    results: dict[str, Any] = {"seed": seed}
    results["trained"] = agent.evaluate(EPISODES).mean
    results["not_tuned"] = agent.evaluate(EPISODES, env=long_pole).mean
    with tempfile.TemporaryDirectory() as folder:
        stored = agent.store_model(Path(folder) / "trained")
        for name, only in PARTS.items():
            other = Agent.from_spec("ppo", seed=seed + 1000, **options)
            if only != []:
                other.load_weights(stored, only=only)
            other.learn(MORE_STEPS, env=long_pole, num_envs=8)
            results[name] = other.evaluate(EPISODES, env=long_pole).mean
    return {name: round(value, 1) for name, value in results.items()}


def main() -> None:
    run_seeds(__doc__, measure, {"trained": STEPS, "tuned": MORE_STEPS, "episodes": EPISODES})
