#!/usr/bin/env python3
"""Kills and stops processes of the three flows at random moments, and checks what every run did.

    python3 tools/distributed_faults.py --kills 14 --stops 7 --flow impala
    python3 tools/distributed_faults.py --engine distributed_tf --kills 40 --stops 0 --flow impala

A run trains on CartPole until some of its actors and shards were killed (SIGKILL) or stopped for a while (SIGSTOP, then
SIGCONT: shorter and longer than the executor waits). Then it must have ended as configured: all steps counted are those
of the fragments taken in, no fragment is taken in twice or out of order, every fragment asked for was taken in, is
under way, or is counted as lost, and every process that was killed was replaced. Every third run may replace none, and
must end with the error that says so. A run that takes longer than the limit hangs. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from devlib.actor_hosts import hosts

#: Seconds until a run counts as hanging, and that an executor waits for an answer.
LIMIT, ANSWER = 280.0, 3.0
#: Faults of one run.
FAULTS = 3


@dataclass
class Report:
    """What happened in the runs of a flow."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=14)
    parser.add_argument("--stops", type=int, default=7)
    parser.add_argument("--flow", choices=("sync_batch", "impala", "apex"), default="sync_batch")
    parser.add_argument("--engine", choices=("ray", "distributed_tf"), default="ray")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    from rlgraph.execution.executors.executor import make_engine

    draws, report = random.Random(options.seed), Report()
    faults = ["kill"] * options.kills + ["stop"] * options.stops
    draws.shuffle(faults)
    engine = make_engine(
        {"type": "ray", "num_cpus": 2}
        if options.engine == "ray"
        else {"type": options.engine, "allow_network": True}
    )
    began = time.monotonic()
    number = 0
    while faults:
        number += 1
        some, faults = faults[:FAULTS], faults[FAULTS:]
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        run(
            options.flow,
            engine,
            some,
            draws,
            number,
            is_limited=number % 3 == 0 and "kill" in some,
            report=report,
        )
        faulthandler.cancel_dump_traceback_later()
    engine.close()
    counts = report.counts
    print(
        f"{options.flow} on {options.engine}: {number} runs, {counts['kills']} kills and {counts['stops']} stops in "
        f"{time.monotonic() - began:.0f} s; {counts['restarts']} restarts; of {counts['asked']} fragments asked for "
        f"{counts['taken']} taken in, {counts['lost']} lost; {counts['steps']:,} steps; "
        f"{len(report.problems)} problems"
    )
    for problem in report.problems:
        print(problem)
    return 1 if report.problems else 0


class Faults(threading.Thread):
    """Kills or stops a random actor or shard at random moments, while a run goes on.

    Args:
        kinds: "kill" or "stop", in order.
        draws: random numbers.
    """

    def __init__(self, kinds: list[str], draws: random.Random):
        super().__init__(daemon=True)
        self.kinds, self.draws = kinds, draws
        self.done: list[str] = []
        #: Processes of earlier runs, which end late on a busy machine, and those that were killed.
        self.ended = set(hosts())
        self.is_over = threading.Event()
        #: Set when the run takes in a fragment.
        self.goes_on = threading.Event()

    def run(self) -> None:
        for kind in self.kinds:
            self.goes_on.clear()
            if self.is_over.is_set():
                return
            if not self.goes_on.wait(LIMIT) or self.is_over.wait(self.draws.uniform(0.0, 1.5)):
                return
            while not (found := [number for number in hosts() if number not in self.ended]):
                if self.is_over.wait(0.1):  # those that replace them are starting
                    return
            try:
                self.fault(kind, self.draws.choice(found))
            except ProcessLookupError:  # it was replaced meanwhile
                continue
            self.done.append(kind)
        self.is_over.wait(ANSWER)  # so that the last one is noticed
        self.is_over.set()

    def end(self) -> None:
        """The run has ended."""
        self.is_over.set()
        self.goes_on.set()

    def fault(self, kind: str, victim: int) -> None:
        if kind == "kill":
            os.kill(victim, signal.SIGKILL)
            self.ended.add(victim)
            return
        os.kill(victim, signal.SIGSTOP)
        time.sleep(self.draws.uniform(0.1, 2 * ANSWER))
        os.kill(victim, signal.SIGCONT)


def run(
    flow: str,
    engine: Any,
    kinds: list[str],
    draws: random.Random,
    number: int,
    *,
    is_limited: bool,
    report: Report,
) -> None:
    """One run with faults; a limited one may replace nothing."""
    from rlgraph.execution import TooManyRestarts
    from rlgraph.workers import Callback

    faults = Faults(kinds, draws)

    class Watch(Callback):
        """Ends the run when its faults are over."""

        def on_update(self, worker: Any, results: Any) -> bool:
            faults.goes_on.set()
            return faults.is_over.is_set()

    executor, taken = make(flow, engine, number, 0 if is_limited else 1000)
    faults.start()
    result, error = None, None
    try:
        result = executor.execute_timesteps(10**9, callbacks=Watch())
    except TooManyRestarts as raised:
        error = raised
    faults.end()
    asked, lost, under_way = executor.asked, executor.lost_fragments, len(executor.requests or ())
    under_way += len(getattr(executor, "_queue", ()))
    executor.terminate()
    faults.join()
    restarts = executor.actor_restarts + getattr(executor, "shard_restarts", 0)
    kills = faults.done.count("kill")
    problems = [*check(taken, executor)]
    if is_limited and kills and error is None:
        problems.append("expected TooManyRestarts, and the run went on")
    if not is_limited and error is not None:
        problems.append(f"ended by {error}")
    if result is not None:
        if restarts < kills:
            problems.append(f"{kills} kills, and {restarts} restarts")
        rest = asked - lost - under_way
        if rest != len(taken):
            problems.append(f"of {asked} fragments {len(taken)} were taken in, expected {rest}")
    what = (
        f"{', '.join(faults.done)}: {restarts} restarts, {lost} fragments lost, {executor.timesteps:,} steps"
    )
    print(f"{flow} {number}: {what}{', limited' if is_limited else ''} {problems or ''}", flush=True)
    report.problems += [f"{flow} {number}: {problem}" for problem in problems]
    report.counts.update(
        kills=kills,
        stops=faults.done.count("stop"),
        restarts=restarts,
        asked=asked,
        lost=lost,
        taken=len(taken),
        steps=executor.timesteps,
    )


def check(taken: list[tuple[int, int, int, int]], executor: Any) -> list[str]:
    """What is wrong with the fragments that were taken in: (actor, incarnation, number, steps), in their order."""
    problems = []
    newest: dict[int, tuple[int, int]] = {}
    for actor, incarnation, number, _ in taken:
        before = newest.get(actor, (-1, -1))
        expected = (
            number == before[1] + 1 if incarnation == before[0] else number == 0 and incarnation > before[0]
        )
        if not expected:
            problems.append(f"actor {actor}: fragment {number} of incarnation {incarnation} after {before}")
        newest[actor] = incarnation, number
    steps = sum(each for *_, each in taken)
    if not steps == executor.timesteps == executor.agent.timesteps:
        problems.append(
            f"{steps} steps, the executor counted {executor.timesteps}, the agent {executor.agent.timesteps}"
        )
    return problems


def make(flow: str, engine: Any, seed: int, limit: int) -> tuple[Any, list[tuple[int, int, int, int]]]:
    """An executor, and the fragments that it takes in."""
    from rlgraph.core import registry

    taken: list[tuple[int, int, int, int]] = []
    kind = registry("rlgraph.executors").load(flow)

    class Counting(kind):  # type: ignore[misc,valid-type]
        requests, asked = None, 0

        def start_actors(self) -> Any:
            if (requests := super().start_actors()) is not self.requests:
                self.requests, ask = requests, requests.ask

                def counted(number: int) -> None:
                    self.asked += 1
                    ask(number)

                requests.ask = counted
            return requests

        def count(self, sample: Any, schedule: Any) -> None:
            origin = sample.origin
            taken.append((origin.actor, origin.incarnation, origin.number, sample.steps))
            super().count(sample, schedule)

    agents: dict[str, dict[str, Any]] = {
        "sync_batch": {"type": "ppo", "rollout_length": 16, "num_epochs": 1, "num_minibatches": 1},
        "impala": {"type": "impala", "rollout_length": 16},
        "apex": {
            "type": "apex",
            "memory_spec": {"capacity": 5000},
            "update_spec": {"steps_before_update": 200, "update_interval": 8, "batch_size": 16},
        },
    }
    executor = Counting(
        {**agents[flow], "network_spec": [16], "execution_spec": {"threads": 1}},
        "CartPole-v1",
        engine=engine,
        actors=2,
        num_envs=4,
        backend="torch",
        seed=seed,
        max_actor_restarts=limit,
        sample_timeout=ANSWER,
    )
    return executor, taken


if __name__ == "__main__":
    sys.exit(main())
