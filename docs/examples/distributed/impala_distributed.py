"""IMPALA on distributed TensorFlow: the same program for the learner and for every actor of a cluster.

pip install 'rlgraph-agents[tf]' 'rlgraph-dist[tf]'
python impala_distributed.py --learner
python impala_distributed.py --actor --task 0    # on its machine
python impala_distributed.py --actor --task 1
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from rlgraph.execution.distributed_tf import ImpalaExecutor

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    job = parser.add_mutually_exclusive_group(required=True)
    job.add_argument("--learner", dest="job", action="store_const", const="learner")
    job.add_argument("--actor", dest="job", action="store_const", const="actor")
    parser.add_argument("--task", type=int, default=0)
    parser.add_argument("--config", type=Path, default=HERE / "impala_distributed.json")
    parser.add_argument(
        "--cluster_spec", type=Path, default=HERE / "impala_clusterspec.json"
    )
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--steps", type=int, default=300_000)
    options = parser.parse_args(arguments)
    agent_config = json.loads(options.config.read_text())
    cluster_spec = json.loads(options.cluster_spec.read_text())
    task = {
        "job": options.job,
        "task_index": options.task,
        "cluster_spec": cluster_spec,
    }
    execution = {
        **agent_config["execution_spec"],
        "mode": "distributed",
        "distributed_spec": task,
    }
    executor = ImpalaExecutor(
        agent_config={**agent_config, "execution_spec": execution},
        environment_spec=options.env,
        backend="tf",
        seed=1,
        actors=len(cluster_spec["actor"]),
        num_envs=4,
        # The learner's server listens on all interfaces, and has no password.
        allow_network=True,
    )
    result = executor.execute(
        steps=options.steps
    )  # an actor works here until the learner has done its steps
    if options.job == "learner":
        evaluation = executor.local_agent.evaluate(10, env=options.env, seed=100)
        print(
            f"{result.timesteps} steps, {result.updates} updates, mean return {evaluation.mean:.1f}"
        )


if __name__ == "__main__":
    main()
