"""DQN learns CartPole. An untrained policy balances the pole for 9 to 60 steps; 195 once counted as solved."""

from rlgraph.algorithms.presets import find_preset
from rlgraph.runs.training import train


def test_dqn_learns_cartpole(tmp_path):
    spec = {
        "agent": {
            **find_preset("dqn", "CartPole-v1").agent,
            "execution_spec": {"threads": 1},
        },
        "environment": "CartPole-v1",
        "backend": "jax",
        "steps": 30_000,
        "seed": 1,
        "evaluation": {
            "interval": 1000,
            "episodes": 10,
            "stop_at_return": 475.0,
            "final_episodes": 20,
        },
    }
    summary = train(spec, tmp_path)
    assert summary.evaluation.mean >= 195.0
