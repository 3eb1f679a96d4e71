"""DQN acts and learns inside a loop of your own.

pip install 'rlgraph-agents[torch]'
python own_loop.py
"""

import gymnasium

from rlgraph.agents import Agent


def main(steps: int = 30_000) -> None:
    spec = {
        "type": "dqn",
        "network_spec": [64, 64],
        "exploration_spec": {"epsilon_spec": 0.1},
        "update_spec": {
            "steps_before_update": 1000,
            "update_interval": 2,
            "batch_size": 64,
        },
        "execution_spec": {"threads": 1},
    }
    env = gymnasium.make("CartPole-v1")
    agent = Agent.from_spec(spec, env="CartPole-v1", backend="torch", seed=1)
    state, _ = env.reset(seed=1)
    for _ in range(steps):
        action = agent.get_actions(state)
        next_state, reward, terminated, truncated, _ = env.step(int(action))
        agent.observe(state, action, reward, terminated, next_state, truncated)
        agent.update_if_due()
        state = env.reset()[0] if terminated or truncated else next_state
    print(f"mean return {agent.evaluate(20).mean:.1f}")


if __name__ == "__main__":
    main()
