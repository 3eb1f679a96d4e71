"""DQfD learns MountainCar from five episodes of a script, and then by itself.

pip install 'rlgraph-agents[torch]'
python dqfd_mountain_car.py
"""

from rlgraph.agents import Agent
from rlgraph.workers import record_data_set


def push(state):
    """Push in the direction in which the car moves."""
    return 2 if state[1] > 0 else 0


def main(steps: int = 20_000, updates: int = 2_000) -> None:
    record_data_set(push, "MountainCar-v0", 5, "mountain_car.npz")
    spec = {
        "type": "dqfd",
        "network_spec": [64, 64],
        "exploration_spec": {"epsilon_spec": [0.1, 0.01]},
        "optimizer_spec": {"learning_rate": [1e-3, 0.0]},
        "update_spec": {"batch_size": 64, "update_interval": 2},
        "sync_interval": 250,
        "execution_spec": {"threads": 1},
    }
    agent = Agent.from_spec(spec, env="MountainCar-v0", backend="torch", seed=1)
    agent.learn(updates=updates, data="mountain_car.npz")
    agent.learn(steps, progress_bar=True)
    print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
