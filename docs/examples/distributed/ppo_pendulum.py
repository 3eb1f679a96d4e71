"""PPO learns Pendulum from synchronous batches on Ray.

pip install 'rlgraph-agents[torch]' 'rlgraph-dist[ray]'
python ppo_pendulum.py
python ppo_pendulum.py --engine in_process --steps 10000    # without Ray, to debug
"""

import argparse
import json
from pathlib import Path

from rlgraph.execution.ray import SyncBatchExecutor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--config", type=Path, default=Path(__file__).with_name("ppo_pendulum.json")
    )
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--engine", default="ray")
    parser.add_argument("--actors", type=int, default=4)
    parser.add_argument("--steps", type=int, default=200_000)
    arguments = parser.parse_args()
    agent_config = json.loads(arguments.config.read_text())
    env_spec = {"type": "openai", "gym_env": "Pendulum-v1"}
    executor = SyncBatchExecutor(
        agent_config,
        env_spec,
        backend=arguments.backend,
        engine=arguments.engine,
        actors=arguments.actors,
        num_envs=2,
        seed=1,
    )
    result = executor.execute(steps=arguments.steps)
    evaluation = executor.local_agent.evaluate(10, env=env_spec, seed=100)
    print(
        f"{result.timesteps} steps, {result.updates} updates, mean return {evaluation.mean:.1f}"
    )


if __name__ == "__main__":
    main()
