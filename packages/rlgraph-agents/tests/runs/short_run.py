"""A short CartPole run in a process of its own: ``short_run.py FOLDER BACKEND``; goes on with what is there."""

import sys
from pathlib import Path

from rlgraph.runs import resume, train


def document(backend):
    layer = {"type": "dense", "units": 8, "activation": "tanh"}
    return {
        "agent": {
            "type": "dqn",
            "network_spec": [layer],
            "update_spec": {"update_interval": 4, "batch_size": 8},
            "memory_spec": {"capacity": 500},
        },
        "environment": "CartPole-v1",
        "backend": backend,
        "steps": 3000,
        "seed": 2,
        "logging": {"report_interval": 50},
        "evaluation": {"interval": 170, "episodes": 1, "final_episodes": 1},
        "checkpoints": {"interval": 100},
    }


if __name__ == "__main__":
    folder, backend = Path(sys.argv[1]), sys.argv[2]
    if (folder / "config.json").exists():
        resume(folder)
    else:
        train(document(backend), folder)
