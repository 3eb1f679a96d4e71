"""Ape-X learns Pong on Ray. The settings are the paper's where one machine can hold them; they are not tuned.

pip install 'rlgraph-agents[torch,atari]' 'rlgraph-dist[ray]'
python apex_pong.py --actors 8 --steps 2000000
python apex_pong.py --address auto          # in a cluster that `ray start` has started
python apex_pong.py --engine in_process --actors 1 --steps 2000     # without Ray, to debug
"""

import argparse
import json
import logging
from pathlib import Path

from rlgraph.execution.ray import ApexExecutor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--config", type=Path, default=Path(__file__).with_name("apex_pong.json")
    )
    parser.add_argument("--game", default="Pong")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--engine", default="ray")
    parser.add_argument(
        "--address",
        help="of a running Ray cluster; default: one of this machine is started",
    )
    parser.add_argument("--actors", type=int, default=8)
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument(
        "--folder", default="apex_pong", help="where the agent is saved"
    )
    arguments = parser.parse_args()
    if arguments.address and arguments.engine != "ray":
        parser.error(
            f"--address is for --engine ray, given --engine {arguments.engine}"
        )
    logging.basicConfig(level="INFO")  # shows the reports
    engine = {
        "type": arguments.engine,
        **({"address": arguments.address} if arguments.address else {}),
    }
    executor = ApexExecutor(
        environment_spec={
            "type": "atari",
            "game": arguments.game,
            "episodic_life": False,
        },
        agent_config=json.loads(arguments.config.read_text()),
        backend=arguments.backend,
        engine=engine,
        actors=arguments.actors,
        num_envs=4,
        seed=1,
    )
    result = executor.execute_workload(
        workload={"num_timesteps": arguments.steps, "report_interval": 50_000}
    )
    for name, value in result.statistics.items():
        print(f"{name}: {value:.6g}")
    executor.local_agent.store_model(arguments.folder)


if __name__ == "__main__":
    main()
