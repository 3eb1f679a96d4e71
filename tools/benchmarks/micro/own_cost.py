"""The agent's own cost: training DQN on CartPole-v1 with agent and worker, over the same loop written by hand.

The loop by hand calls what the agent calls in the end: the acting program, the vector environment, the memory's insert,
the compiled or eager update, the synchronisation. What the ratio is above 1 is what ``get_actions``, ``observe``,
counters, checks, statistics and reports cost. An update of 64 transitions every fourth step.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from measure import arguments, compared, interleaved, report
from subject import make_agent

from rlgraph.environments import make_vector_env
from rlgraph.workers import SingleThreadedWorker

TARGET = 1.05
STEPS, UPDATE_EVERY, SYNC_EVERY = 1000, 4, 500


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--blocks", type=int, default=10, help="runs of 1000 steps in a round")
    options = parser.parse_args()
    rows = []
    for name, execution in (("eager", {}), ("compiled", {"compile": True})):
        subjects = {
            "by hand": by_hand(options.backend, execution),
            "agent": by_agent(options.backend, execution),
        }
        for run in subjects.values():
            run()  # compiles, fills the memory
        figures = interleaved(
            subjects, rounds=options.rounds, blocks=options.blocks, single=True, clock=process_time
        )
        rows += compared(figures, "by hand", "us/step", 1e6 / STEPS, TARGET, f"{name}, ", ("agent",))
    report("own_cost", rows, options)


def make(backend: str, execution: dict[str, Any]) -> Any:
    """An agent that learns next to nothing: both subjects see episodes of the same length."""
    return make_agent(
        backend,
        env="CartPole-v1",
        optimizer_spec={"type": "adam", "learning_rate": 1e-9, "clip_grad_norm": 10.0},
        exploration_spec={"epsilon_spec": 1.0},
        execution_spec={"threads": 1, **execution},
        update_spec={
            "steps_before_update": 64,
            "update_interval": UPDATE_EVERY,
            "batch_size": 64,
        },
        sync_interval=SYNC_EVERY,
    )


def by_agent(backend: str, execution: dict[str, Any]) -> Callable[[], Any]:
    """The worker's loop."""
    worker = SingleThreadedWorker(make(backend, execution), "CartPole-v1")
    return lambda: worker.execute_timesteps(STEPS)


def by_hand(backend: str, execution: dict[str, Any]) -> Callable[[], Any]:
    """The same calls with nothing between them."""
    agent, vector = make(backend, execution), make_vector_env("CartPole-v1", 1)
    executor = agent.executor
    explore = executor.numpy_program("act")
    insert, update = executor.program("insert_records"), executor.program("update_from_memory")
    sync, batch_size = executor.program("sync_target"), np.array(64)
    percentage, step = np.zeros((), np.float32), vector.step

    def train() -> None:
        states = vector.reset()
        for i in range(1, STEPS + 1):
            actions = explore(states, progress=percentage)["actions"]
            next_states, rewards, terminated, _, _ = step(actions)
            insert(
                {
                    "states": states,
                    "actions": actions,
                    "rewards": rewards,
                    "terminals": terminated,
                    "next_states": vector.final_states,
                }
            )
            states = next_states
            if i % UPDATE_EVERY == 0:
                update(batch_size, progress=percentage)
            if i % SYNC_EVERY == 0:
                sync()

    return train
