"""IQL learns Pendulum from recorded steps alone, those of a SAC that has not finished learning.

pip install 'rlgraph-agents[torch]'
python iql_pendulum.py
"""

from rlgraph.agents import Agent
from rlgraph.workers import record_data_set


def main(steps: int = 5_000, episodes: int = 50, updates: int = 5_000) -> None:
    options = {
        "env": "Pendulum-v1",
        "backend": "torch",
        "seed": 1,
        "execution_spec": {"threads": 1},
    }
    teacher = Agent.from_spec("sac", **options)
    teacher.learn(steps, progress_bar=True)
    record_data_set(teacher, "Pendulum-v1", episodes, "pendulum.npz")

    student = Agent.from_spec(
        {"type": "iql", "network_spec": [64, 64], "discount": 0.98}, **options
    )
    student.learn(updates=updates, data="pendulum.npz")
    for agent in (teacher, student):
        print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
