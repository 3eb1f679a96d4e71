"""Training in one program with the environment: steps per second of processor time, from outside and of rejax.

CartPole, 8, 64 and 1,024 copies (DQN: 8 and 128), one thread. Every measurement is a process of its own; the processes
alternate. The agent from outside has Gymnasium's environment and is compiled, too. The first call, which builds and
compiles, is timed apart, by the clock; PyTorch keeps what it compiled from the first round on.

ppo, a2c  as in `micro/train`; rejax has PPO of the same settings, and no A2C
dqn       two layers of 64, an update of 64 transitions at each step of all copies, of the last 50,000
--insert  inserts and draws of 64 records in memories of 10,000 and of 1,000,000, in a compiled loop of TensorFlow

    python tools/benchmarks micro/in_graph ppo --backend tf --num-envs 8
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import peers
from measure import Figure, Row, arguments, interleaved, report
from micro.settings import AGENTS, SEED
from processes import add_rounds, alternating, in_process

ROUNDS = 5
COPIES = {"ppo": (8, 64, 1024), "a2c": (8, 64, 1024), "dqn": (8, 128)}
#: Of DQN: the counts are of steps of all copies.
RATE, CAPACITY, BATCH, SYNC, BEFORE_UPDATE, DQN_STEPS = 1e-3, 50_000, 64, 500, 1_000, 10_000
#: Environment steps of a measurement of the others, at least, and rollouts.
STEPS, ROLLOUTS = 100_000, 3
SUBJECTS = ("in the graph", "from outside", "rejax")
#: Agent, backend -> how many times as fast as from outside, by the number of copies.
OUTSIDE_TARGETS = {
    ("ppo", "tf"): {8: 3.5, 64: 1.4, 1024: 1.0},
    ("ppo", "torch"): {8: 1.8, 64: 1.3, 1024: 1.0},
    ("dqn", "tf"): {8: 5.0, 128: 5.0},
    ("dqn", "torch"): {8: 2.0, 128: 2.0},
}
#: How many times as fast as rejax, with eight copies; seconds of the first call.
REJAX_TARGETS = {("ppo", "tf"): 1.7, ("ppo", "torch"): 0.9}
FIRST_TARGETS = {"tf": 12.0, "torch": 40.0}
#: Of ``--insert``: sizes of memories, records, pairs of insert and draw in a call, microseconds of one.
MEMORIES, RECORDS, PAIRS, INSERT_TARGET = (10_000, 1_000_000), 64, 1_000, 15.0


def steps_of(kind: str, num_envs: int) -> tuple[int, int]:
    """Environment steps of the first call, and of a measurement."""
    if kind == "dqn":  # the first updates are made when there are enough records
        return BEFORE_UPDATE + 512 * num_envs, DQN_STEPS * num_envs
    rollout = AGENTS[kind]["rollout_length"] * num_envs
    return rollout, rollout * max(ROLLOUTS, math.ceil(STEPS / rollout))


def spec_of(kind: str, num_envs: int) -> dict[str, Any]:
    """An agent's spec."""
    if kind != "dqn":
        return {"type": kind, **AGENTS[kind]}
    return {
        "type": "dqn",
        "network_spec": [{"type": "dense", "units": 64, "activation": "relu"}] * 2,
        "double_q": False,
        "dueling_q": False,
        "memory_spec": {"type": "replay_memory", "capacity": CAPACITY},
        "optimizer_spec": {"learning_rate": RATE},
        "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.05, "end": 0.2}},
        "update_spec": {
            "steps_before_update": BEFORE_UPDATE,
            "update_interval": num_envs,
            "update_steps": 1,
            "batch_size": BATCH,
        },
        "sync_interval": SYNC * num_envs,
    }


def ours(kind: str, backend: str, in_graph: bool, num_envs: int) -> Callable[[int], Any]:
    """An agent's training."""
    from rlgraph.agents import Agent

    agent = Agent.from_spec(
        {**spec_of(kind, num_envs), "execution_spec": {"compile": True, "threads": 1}},
        env="rlgraph/CartPole-v1" if in_graph else "CartPole-v1",
        backend=backend,
        seed=SEED,
    )
    return partial(agent.learn, num_envs=num_envs, in_graph=in_graph)


def rejax(kind: str, num_envs: int) -> Callable[[int], Any]:
    """Training by rejax, one call for all steps, one thread."""
    os.environ.update(peers.ONE_THREAD)
    from peers.rejax import OPTIONS, Program

    if kind != "dqn":
        return Program(kind, "CartPole-v1", num_envs, **OPTIONS[kind]).train
    options: dict[str, Any] = {
        "agent_kwargs": {"activation": "relu"},
        "ddqn": False,
        "learning_rate": RATE,
        "buffer_size": CAPACITY,
        "batch_size": BATCH,
        "fill_buffer": BEFORE_UPDATE,
        "target_update_freq": SYNC * num_envs,
        "polyak": 0.0,
        "exploration_fraction": 0.2,
    }
    return Program(kind, "CartPole-v1", num_envs, **options).train


def measure(kind: str, backend: str, subject: str, num_envs: int) -> dict[str, float]:
    """One measurement, in this process."""
    first, steps = steps_of(kind, num_envs)
    begun = time.perf_counter()
    if subject == "rejax":
        train = rejax(kind, num_envs)
        train(steps)  # a program is of a number of steps
    else:
        train = ours(kind, backend, subject == "in the graph", num_envs)
        train(first)
    seconds = time.perf_counter() - begun
    started = time.process_time()
    train(steps)
    return {"steps_per_second": steps / (time.process_time() - started), "first_call": seconds}


def measured(kind: str, backend: str, num_envs: int, rounds: int, rejax_python: Path | None) -> list[Row]:
    """The rows of a number of copies."""
    subjects = SUBJECTS if rejax_python else SUBJECTS[:2]

    def of(subject: str) -> dict[str, float]:
        python = rejax_python if subject == "rejax" else None
        given = ("--backend", backend, "--num-envs", str(num_envs), "--measure", subject)
        found: dict[str, float] = in_process(python, kind, *given)
        return found

    results = alternating(subjects, rounds, of)
    figures = {
        subject: Figure(tuple(each["steps_per_second"] for each in found))
        for subject, found in results.items()
    }
    inside, outside, prefix = figures["in the graph"], figures["from outside"], f"{num_envs:,} copies, "
    target = OUTSIDE_TARGETS.get((kind, backend), {}).get(num_envs)
    rows = [
        Row(f"{prefix}from outside", outside, "steps/s"),
        Row(f"{prefix}in the graph", inside, "steps/s", inside.over(outside), target, at_least=True),
    ]
    if rejax_python:
        other = figures["rejax"]
        target = REJAX_TARGETS.get((kind, backend)) if num_envs == 8 else None
        name = f"{prefix}in the graph, beside rejax"
        rows += [
            Row(f"{prefix}rejax", other, "steps/s"),
            Row(name, inside, "steps/s", inside.over(other), target, at_least=True),
        ]
    calls = [each["first_call"] for each in results["in the graph"]]
    rows.append(Row(f"{prefix}first call", Figure((calls[0],)), "s", None, FIRST_TARGETS[backend]))
    if calls[1:]:
        rows.append(Row(f"{prefix}first call, in later processes", Figure(tuple(calls[1:])), "s"))
    return rows


def insert_rows(rounds: int) -> list[Row]:
    """Inserts and draws in memories of two sizes."""
    import numpy as np
    from subject import STATE_SIZE, random_inputs, transitions

    from rlgraph.components.memories.tensor_replay import TensorReplay
    from rlgraph.core import Component, GraphExecutor, graph_fn, loop, rlgraph_api
    from rlgraph.spaces import FloatBox, IntBox

    class Root(Component):
        def __init__(self, capacity: int):
            self.memory = TensorReplay(capacity)
            super().__init__(self.memory, scope="root")

        @rlgraph_api
        def run(self, records: Any) -> Any:
            def pair(i: Any, total: Any) -> Any:
                self.memory.insert_records(records)
                return self._added(total, self.memory.get_records(RECORDS))

            return loop(PAIRS, pair, self._zero())

        @graph_fn
        def _zero(self, ops: Any) -> Any:
            return ops.zeros(())

        @graph_fn
        def _added(self, ops: Any, total: Any, drawn: Any) -> Any:
            """So that all that is drawn is needed."""
            for part in drawn.values():
                total = total + ops.sum(ops.astype(part, "float"))
            return total

    space, rng = transitions(FloatBox(shape=(STATE_SIZE,)), IntBox(2)), np.random.default_rng(SEED)
    records, subjects = random_inputs(space, rng, RECORDS), {}
    for capacity in MEMORIES:
        # By its name: a program without products is not compiled by XLA otherwise.
        execution = {"compile": ["run"], "threads": 1}
        executor = GraphExecutor(Root(capacity), {"records": space}, backend="tf", execution_spec=execution)
        subjects[f"{capacity:,} records"] = partial(executor.execute, "run", records)
    figures = interleaved(subjects, rounds=rounds, blocks=10, single=True, clock=time.process_time)
    small, large = figures.values()
    return [
        Row(name, figure.times(1e6 / PAIRS), "us", None, INSERT_TARGET) for name, figure in figures.items()
    ] + [Row("large over small", large.over(small), "times", None, 1.1)]


def main() -> None:
    parser = arguments(__doc__, backends=("tf", "torch"))
    parser.add_argument("agent", choices=COPIES, nargs="?")
    parser.add_argument("--insert", action="store_true", help="measure the memory in place of an agent")
    parser.add_argument("--num-envs", type=int, nargs="+", metavar="N", help="numbers of copies")
    parser.add_argument("--rejax-python", type=Path, metavar="PATH", help="an interpreter that has rejax")
    add_rounds(parser, ROUNDS)
    options = parser.parse_args()
    if options.insert == (options.agent is not None) or (options.insert and options.backend != "tf"):
        parser.error("expected an agent, or --insert, which is of tf")
    if options.insert:
        report("insert and draw", insert_rows(options.rounds), options)
        return
    numbers: Sequence[int] = options.num_envs or COPIES[options.agent]
    if options.measure:
        print(json.dumps(measure(options.agent, options.backend, options.measure, numbers[0])))
        return
    rejax_python = None if options.agent == "a2c" else options.rejax_python or peers.interpreter("rejax")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RLGRAPH_CACHE"] = folder  # PyTorch has nothing compiled yet
        rows = [
            row
            for number in numbers
            for row in measured(options.agent, options.backend, number, options.rounds, rejax_python)
        ]
    report(f"in_graph {options.agent}", rows, options)
