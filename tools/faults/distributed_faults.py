#!/usr/bin/env python3
"""Kills and stops processes of the three flows at random moments, and checks what every run did.

    python3 tools/faults/distributed_faults.py --kills 14 --stops 7 --flow impala
    python3 tools/faults/distributed_faults.py --engine distributed_tf --kills 40 --stops 0 --flow impala
    python3 tools/faults/distributed_faults.py --kills 8 --stops 0 --flow apex --at-sends --units 512
    python3 tools/faults/distributed_faults.py --kills 0 --stops 0 --losses 12

A run trains on CartPole until some of its actors and shards were killed (SIGKILL) or stopped for a while (SIGSTOP, then
SIGCONT: shorter and longer than the executor waits). Then it must have ended as configured: all steps counted are those
of the fragments taken in, no fragment is taken in twice or out of order, every fragment asked for was taken in, is
under way, or is counted as lost, and every process that was killed was replaced. Every third run may replace none, and
must end with the error that says so. A process that was killed must be replaced, or the run must have ended, within
30 s. No actor or shard may be left after a run, and nothing in shared memory at the end. A run that takes longer than
the limit hangs. Exit code 1 if anything is wrong.

``--at-sends``: they are killed while weights are sent to them, after an update; ``--units 512`` makes these weights
larger than what Ray puts into a message.

``--losses``: runs in programs of their own, of all flows, with messages below and above what Ray keeps in its object
store, whose raylet or head (GCS) is killed at a random moment. Each must say within 30 s that the cluster is lost, end
with an exit code that is not 0, and leave a checkpoint to resume from, but no process and no shared memory.
Ray ends a program that is in the middle of a call to its object store; then the checkpoint is the last periodic one.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from harness import SHARED_MEMORY, hosts, parser_of, size_of_metrics, small_agent, start, verdict, wait

#: Seconds until a run counts as hanging, and that an executor waits for an answer.
LIMIT, ANSWER = 280.0, 3.0
#: Faults of one run.
FAULTS = 3
FLOWS = ("sync_batch", "impala", "apex")
#: Seconds until a lost cluster must be named or a process be replaced, a run must have begun on a busy machine, and it
#: must have ended.
NAMED, BEGUN, ENDED = 30.0, 240.0, 60.0
#: Seconds between the two moments between which a process is killed after a message of weights was made.
SENDING = (0.0, 0.05)


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument("--kills", type=int, default=14)
    parser.add_argument("--stops", type=int, default=7)
    parser.add_argument("--flow", choices=FLOWS, default="sync_batch")
    parser.add_argument("--losses", type=int, default=0, help="kills of the raylet or the head of Ray")
    parser.add_argument("--engine", choices=("ray", "distributed_tf"), default="ray")
    parser.add_argument("--units", type=int, default=16, help="of both layers of the network")
    parser.add_argument("--at-sends", action="store_true", help="kill while weights are sent")
    options = parser.parse_args()
    from rlgraph.execution.executors.executor import make_engine

    draws, problems, counts = random.Random(options.seed), list[str](), Counter[str]()
    if options.losses:
        problems = [problem for number in range(options.losses) for problem in lose_cluster(number, draws)]
        return verdict(problems, f"{options.losses} losses of the cluster")
    kinds = ["kill"] * options.kills + ["stop"] * options.stops
    draws.shuffle(kinds)
    more = {"num_cpus": 2} if options.engine == "ray" else {"allow_network": True}
    memory = set(SHARED_MEMORY.glob("*"))
    engine = make_engine({"type": options.engine, **more})
    began, slowest = time.monotonic(), 0.0
    number = 0
    while kinds:
        number += 1
        some, kinds = kinds[:FAULTS], kinds[FAULTS:]
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        faults = Faults(some, draws, options.at_sends)
        found, happened = run(options, engine, faults, number)
        problems, counts = problems + found, counts + happened
        slowest = max(slowest, faults.slowest)
        faulthandler.cancel_dump_traceback_later()
    engine.close()
    if not wait(lambda: set(SHARED_MEMORY.glob("*")) <= memory, ANSWER):
        problems.append(f"in /dev/shm: {sorted(map(str, set(SHARED_MEMORY.glob('*')) - memory))}")
    done = (
        f"{options.flow} on {options.engine}: {number} runs, {counts['kills']} kills and {counts['stops']} stops in "
        f"{time.monotonic() - began:.0f} s; {counts['restarts']} restarts; of {counts['asked']} fragments asked for "
        f"{counts['taken']} taken in, {counts['lost']} lost; {counts['steps']:,} steps; "
        f"replaced or ended after at most {slowest:.1f} s; "
        f"{len(problems)} problems"
    )
    return verdict(problems, done)


class Faults(threading.Thread):
    """Kills or stops a random actor or shard at random moments, while a run goes on.

    Args:
        kinds: "kill" or "stop", in order.
        draws: random numbers.
        at_sends: a fault follows a message of weights.
    """

    def __init__(self, kinds: list[str], draws: random.Random, at_sends: bool):
        super().__init__(daemon=True)
        self.kinds, self.draws, self.at_sends = kinds, draws, at_sends
        #: How often the run has started something again; most seconds until it had.
        self.restarts: Callable[[], int] = lambda: 0
        self.slowest = 0.0
        self.done: list[str] = []
        #: Processes of earlier runs, which end late on a busy machine, and those that were killed.
        self.ended = set(hosts())
        self.is_over = threading.Event()
        #: Set when the run takes in a fragment, and when it makes a message of weights.
        self.goes_on, self.sends = threading.Event(), threading.Event()

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
            if self.at_sends:
                self.sends.clear()
                if not self.sends.wait(LIMIT) or self.is_over.wait(self.draws.uniform(*SENDING)):
                    return
            before, began = self.restarts(), time.monotonic()
            try:
                self.fault(kind, self.draws.choice(found))
            except ProcessLookupError:  # it was replaced meanwhile
                continue
            self.done.append(kind)
            if kind == "kill":
                wait(lambda before=before: self.restarts() > before or self.is_over.is_set(), NAMED)  # type: ignore[misc]
                self.slowest = max(self.slowest, time.monotonic() - began)
        self.is_over.wait(ANSWER)  # so that the last one is noticed
        self.is_over.set()

    def end(self) -> None:
        """The run has ended."""
        self.is_over.set()
        self.goes_on.set()
        self.sends.set()

    def fault(self, kind: str, victim: int) -> None:
        if kind == "kill":
            os.kill(victim, signal.SIGKILL)
            self.ended.add(victim)
            return
        os.kill(victim, signal.SIGSTOP)
        time.sleep(self.draws.uniform(0.1, 2 * ANSWER))
        os.kill(victim, signal.SIGCONT)


def run(
    options: argparse.Namespace, engine: Any, faults: Faults, number: int
) -> tuple[list[str], Counter[str]]:
    """One run with faults: what was wrong, and what happened. Every third one with kills may replace nothing."""
    from rlgraph.execution import TooManyRestarts
    from rlgraph.workers import Callback

    flow, is_limited = options.flow, number % 3 == 0 and "kill" in faults.kinds

    class Watch(Callback):
        """Ends the run when its faults are over."""

        def on_update(self, worker: Any, results: Any) -> bool:
            faults.goes_on.set()
            return faults.is_over.is_set()

    executor, taken = make(options, engine, number, 0 if is_limited else 1000, faults.sends)
    faults.restarts = lambda: executor.actor_restarts + getattr(executor, "shard_restarts", 0)
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
    restarts, kills = faults.restarts(), faults.done.count("kill")
    problems = [*check(taken, executor)]
    if faults.slowest > NAMED:
        problems.append(f"neither replaced nor ended after {faults.slowest:.1f} s")
    if not wait(lambda: not hosts(), NAMED):
        problems.append(f"left: {hosts()}")
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
    steps, done = executor.timesteps, ", ".join(faults.done)
    what = f"{done}: {restarts} restarts, {lost} fragments lost, {steps:,} steps"
    print(f"{flow} {number}: {what}{', limited' if is_limited else ''} {problems or ''}", flush=True)
    counts = {"kills": kills, "stops": faults.done.count("stop"), "restarts": restarts}
    counts |= {"asked": asked, "lost": lost, "taken": len(taken), "steps": steps}
    return [f"{flow} {number}: {problem}" for problem in problems], Counter(counts)


def lose_cluster(number: int, draws: random.Random) -> list[str]:
    """Kill the raylet or the head of a run in a program of its own; what was wrong."""
    victim = ("raylet", "gcs_server")[number % 2]
    flow, units = FLOWS[number // 2 % 3], (16, 256)[number // 6 % 2]
    agent = {**small_agent(flow, capacity=5000, update_interval=8), "network_spec": [units, units]}
    document = {
        "agent": agent,
        "environment": "CartPole-v1",
        "backend": "torch",
        "seed": number,
        "steps": 10**9,
        "worker": {"num_envs": 4},
        "executor_spec": {"type": flow, "actors": 2, "engine": {"type": "ray", "num_cpus": 2}},
        "checkpoints": {"interval": 1000},
        "evaluation": {"interval": None},
    }
    with tempfile.TemporaryDirectory() as place:
        folder, printed = Path(place) / "run", Path(place) / "printed"
        (Path(place) / "run.json").write_text(json.dumps(document))
        memory = set(SHARED_MEMORY.glob("*"))
        with open(printed, "wb") as output:
            run = start("rlgraph.cli", "train", f"{place}/run.json", "--folder", str(folder), output=output)
        if not wait(lambda: (folder / "checkpoints").exists() and size_of_metrics(folder) > 0, BEGUN):
            run.kill()
            return [f"{flow} {number} has not begun: {printed.read_text()[-2000:]}"]
        time.sleep(draws.uniform(0.0, 3.0))
        processes = psutil.Process(run.pid).children(recursive=True)
        next(each for each in processes if each.name() == victim).kill()
        killed = time.monotonic()
        is_named = wait(lambda: "the Ray cluster is lost" in printed.read_text(), NAMED)
        named = time.monotonic() - killed
        wait(lambda: run.poll() is not None, ENDED)
        ended, code = time.monotonic() - killed, run.poll()
        run.kill()
        run.wait()
        _, left = psutil.wait_procs(processes, timeout=15.0)
        remains = {file for file in SHARED_MEMORY.glob("*") if file not in memory}
        names = sorted(each.name for each in (folder / "checkpoints").iterdir())
        is_own = "A checkpoint was written at step" in printed.read_text()
        problems = [
            *([] if is_named else [f"not named: {printed.read_text()[-2000:]}"]),
            *([] if code else [f"expected an exit code, given {code}"]),
            *([f"left: {[each.pid for each in left]}"] if left else []),
            *([f"in /dev/shm: {sorted(map(str, remains))}"] if remains else []),
            *([] if names and not any(name.startswith(".") for name in names) else [f"checkpoints: {names}"]),
        ]
        for process in left:
            process.kill()
    how = "checkpoint of the end" if is_own else "ended by Ray, last periodic checkpoint"
    print(
        f"{victim} {flow} {units}: named after {named:.1f} s, ended after {ended:.1f} s with {code}; {how}; "
        f"{len(left)} processes, {len(remains)} files in /dev/shm left {problems or ''}",
        flush=True,
    )
    return [f"{victim} {flow} {units}: {problem}" for problem in problems]


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


def make(
    options: argparse.Namespace, engine: Any, seed: int, limit: int, sends: threading.Event
) -> tuple[Any, list[tuple[int, int, int, int]]]:
    """An executor that tells when it sends weights, and the fragments that it takes in."""
    from rlgraph.core import registry

    taken: list[tuple[int, int, int, int]] = []
    kind = registry("rlgraph.executors").load(options.flow)

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

        def send_weights(self) -> None:
            sends.set()
            super().send_weights()

        def count(self, sample: Any, schedule: Any) -> None:
            origin = sample.origin
            taken.append((origin.actor, origin.incarnation, origin.number, sample.steps))
            super().count(sample, schedule)

    executor = Counting(
        {
            **small_agent(options.flow, capacity=5000, update_interval=8),
            "network_spec": [options.units, options.units],
        },
        "CartPole-v1",
        backend="torch",
        engine=engine,
        actors=2,
        num_envs=4,
        seed=seed,
        max_actor_restarts=limit,
        sample_timeout=ANSWER,
    )
    return executor, taken


if __name__ == "__main__":
    sys.exit(main())
