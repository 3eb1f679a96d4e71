"""Two PPO learners share every update: in two processes that are started here, or by torchrun.

pip install 'rlgraph-agents[torch]'
python two_learners.py
torchrun --nproc-per-node 2 two_learners.py
"""

from rlgraph.agents import Agent


def main(steps: int = 100_000) -> None:
    agent = Agent.from_spec(
        "ppo",
        env="CartPole-v1",
        backend="torch",
        seed=1,
        execution_spec={"threads": 1, "learners": 2, "collective": "gloo"},
    )
    agent.learn(steps, progress_bar=True)
    print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
