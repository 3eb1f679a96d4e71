"""Not a test: trains on CartPole for the seeds given and prints what came of it, to the last bit.

python determinism_run.py BACKEND SEED ...
"""

import hashlib
import json
import sys

from rlgraph.agents import Agent
from rlgraph.workers import Callback

SPEC = {
    "type": "dqn",
    "network_spec": [{"type": "dense", "units": 16, "activation": "relu"}],
    "exploration_spec": {"epsilon_spec": [1.0, 0.1]},
    "update_spec": {"steps_before_update": 50, "update_interval": 4, "batch_size": 16, "sync_interval": 40},
}


class Losses(Callback):
    def __init__(self):
        self.values = []

    def on_report(self, worker, metrics):
        self.values.append(metrics["loss"].hex() if "loss" in metrics else None)


def run(backend, seed):
    # One thread is quicker for so small a network; TensorFlow has its number fixed once it runs.
    execution = {"threads": 1} if backend == "torch" else {}
    agent = Agent.from_spec(SPEC, env="CartPole-v1", backend=backend, seed=seed, execution_spec=execution)
    losses = Losses()
    result = agent.learn(600, num_envs=2, callbacks=losses, report_interval=50, evaluation_interval=300)
    weights = {
        name: hashlib.sha256(value.tobytes()).hexdigest() for name, value in agent.get_weights().items()
    }
    evaluations = [evaluation.returns for evaluation in result.evaluations]
    return {
        "returns": result.returns,
        "updates": result.updates,
        "losses": losses.values,
        "weights": weights,
        "evaluations": evaluations,
    }


if __name__ == "__main__":
    print(json.dumps({seed: run(sys.argv[1], int(seed)) for seed in sys.argv[2:]}))
