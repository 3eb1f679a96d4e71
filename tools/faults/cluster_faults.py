#!/usr/bin/env python3
"""Kills programs of a TensorFlow cluster at random moments, and starts them again.

    python tools/faults/cluster_faults.py --kills 10

IMPALA learns CartPole on a cluster document: a learner, which has the server of TensorFlow, and two workers. One of the
three is killed (SIGKILL) at a random moment. Within the limit the learner must have named the worker in the run's
folder, or the workers must have said that the learner is gone. Then the program is started again, the learner by
``rlgraph resume``. Runs that finish must have learned, and end their workers. No process, shared memory or temporary
file may be left. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from harness import (
    Leftovers,
    children,
    not_learned,
    parser_of,
    size_of_metrics,
    start,
    unfinished_in,
    verdict,
    wait,
)

from rlgraph.core.addresses import free_address

#: Seconds until a killed program must be named, a run must go on, and programs must have ended: workers wait
#: 60 s for a learner that was killed in its last evaluation, and that finds all steps done when it resumes.
LIMIT, GOES_ON, ENDED = 10.0, 120.0, 80.0
LEARNED = 475.0
AGENT = {
    "type": "impala",
    "rollout_length": 16,
    "discount": 0.98,
    "network_spec": [{"type": "dense", "units": 64, "activation": "tanh"}] * 2,
    "weight_entropy": [0.01, 0.0],
    "optimizer_spec": {"type": "adam", "learning_rate": [0.004, 0.0], "epsilon": 0.01, "clip_grad_norm": 0.5},
    "execution_spec": {"threads": 1},
}


class Cluster:
    """The programs of a cluster; what each prints is in a file.

    Args:
        place: a folder for them.
        seed: of the runs.
        backend: of the learner.
    """

    def __init__(self, place: Path, seed: int, backend: str):
        self._place, self._seed, self._backend, self._runs = place, seed, backend, 0
        self.addresses = [free_address() for _ in range(3)]
        cluster = place / "cluster.json"
        cluster.write_text(json.dumps({"learner": self.addresses[:1], "actor": self.addresses[1:]}))
        self._engine = {"type": "distributed_tf", "cluster": str(cluster)}
        self._allowed = ["--allow-network"]
        for address in self.addresses:
            self._allowed += ["--allow-cluster", address]
        self.programs: dict[str, subprocess.Popen[bytes]] = {}
        self.new_run()

    def new_run(self) -> None:
        """A run in a new folder, with new workers."""
        self._runs += 1
        self.folder = self._place / f"run-{self._runs}"
        document = {
            "agent": AGENT,
            "environment": "CartPole-v1",
            "backend": self._backend,
            "seed": self._seed + self._runs,
            "steps": 300_000,
            "worker": {"num_envs": 4},
            "executor_spec": {
                "type": "impala",
                "engine": self._engine,
                "actors": 2,
                "max_actor_restarts": 1000,
            },
            "checkpoints": {"interval": 10_000},
            "evaluation": {"interval": None, "final_episodes": 20},
        }
        file = self._place / f"run-{self._runs}.json"
        file.write_text(json.dumps(document))
        self._start(
            "learner", "rlgraph.cli", "train", str(file), "--folder", str(self.folder), *self._allowed
        )
        for number in (0, 1):
            self.start_worker(number)

    def start_worker(self, number: int) -> None:
        """Start a worker at its address."""
        options = ("--cluster", self._engine["cluster"], "--index", str(number))
        self._start(f"worker {number}", "rlgraph.execution.distributed_tf", *options)

    def start(self, name: str) -> None:
        """Start a program that was killed."""
        if name == "learner":
            self._start(name, "rlgraph.cli", "resume", str(self.folder), *self._allowed)
        else:
            self.start_worker(int(name.split()[1]))

    def _start(self, name: str, module: str, *arguments: str) -> None:
        with open(self.file(name), "ab") as output:
            self.programs[name] = start(module, *arguments, output=output)

    def file(self, name: str) -> Path:
        """What a program has printed."""
        return self._place / f"{name}.txt"

    def said(self, name: str) -> str:
        """What is known of a program that was killed: what the learner wrote of a worker, or the workers of it."""
        if name == "learner":
            return "\n".join(self.file(f"worker {number}").read_text() for number in (0, 1))
        return "\n".join(file.read_text() for file in sorted(self.folder.glob("actors/*.log")))

    def naming(self, name: str) -> tuple[str, int]:
        """The sentence that names a program, and how often it is said at one kill."""
        if name == "learner":
            return f"the learner at {self.addresses[0]} is gone", 2
        return f"nothing answers at {self.addresses[1 + int(name.split()[1])]} any more", 1

    def is_together(self) -> bool:
        """Whether all workers have a session on the learner's server."""
        port = int(self.addresses[0].rpartition(":")[2])
        connections = [
            psutil.Process(self.programs[f"worker {number}"].pid).net_connections("tcp") for number in (0, 1)
        ]
        return all(any(each.raddr and each.raddr.port == port for each in found) for found in connections)

    def has_told_workers_to_end(self) -> bool:
        """Whether all steps are done: the learner may still evaluate its policy."""
        return any(self.programs[f"worker {number}"].poll() == 0 for number in (0, 1))

    def has_finished(self) -> bool:
        """Whether the learner has done all its steps."""
        return self.programs["learner"].poll() == 0

    def dump(self) -> None:
        """Let all programs print where they are, and end."""
        for program in self.programs.values():
            program.send_signal(signal.SIGABRT)
            program.wait()

    def end(self) -> None:
        """Kill what is left."""
        for program in self.programs.values():
            program.kill()
            program.wait()


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--backend", default="tf")
    options = parser.parse_args()
    draws, problems, kills = random.Random(options.seed), list[str](), 0
    with tempfile.TemporaryDirectory() as place:
        leftovers = Leftovers(Path(place))
        cluster = Cluster(Path(place), options.seed, options.backend)
        try:
            while kills < options.kills and not problems:
                if not (goes_on(cluster) or cluster.has_finished()):
                    problems.append(f"the run does not go on: {cluster.file('learner').read_text()[-2000:]}")
                elif cluster.has_finished():
                    problems += finish(cluster)
                    cluster.new_run()
                else:
                    wait(cluster.is_together, GOES_ON)
                    # The learner looks every second whether its workers are there.
                    time.sleep(draws.uniform(1.5, 4.5))
                    kills += kill_one(cluster, draws, problems)
            problems = problems or finish(cluster)
            if left := children(None, ["rlgraph"], recursive=True):
                problems.append(f"processes are left: {left}")
        finally:
            cluster.end()
        problems += leftovers.found()
    return verdict(problems, f"{kills} kills")


def kill_one(cluster: Cluster, draws: random.Random, problems: list[str]) -> int:
    """Kill a program, wait until it is named, and start it again; returns 0 if the run finished meanwhile."""
    victim = draws.choice(sorted(cluster.programs))
    sentence, times = cluster.naming(victim)
    before = cluster.said(victim).count(sentence)
    cluster.programs[victim].kill()
    cluster.programs[victim].wait()
    killed = time.monotonic()
    is_named = wait(
        lambda: cluster.said(victim).count(sentence) >= before + times or cluster.has_finished(), 3.0 * LIMIT
    )
    seconds = time.monotonic() - killed
    if cluster.has_finished():
        return 0
    if not is_named and cluster.has_told_workers_to_end():
        cluster.start(victim)  # it evaluates again
        return 0
    print(f"{victim} was killed, and named after {seconds:.1f} s", flush=True)
    if not is_named or seconds > LIMIT:
        cluster.dump()
        problems.append(f"{victim} was not named within {LIMIT:g} s: {cluster.said(victim)[-8000:]}")
    cluster.start(victim)
    return 1


def goes_on(cluster: Cluster) -> bool:
    """Wait until the run has written something more; whether it has."""
    size = size_of_metrics(cluster.folder)
    return wait(lambda: size_of_metrics(cluster.folder) > size or cluster.has_finished(), GOES_ON)


def finish(cluster: Cluster) -> list[str]:
    """Wait for the end of the run and of its workers; returns what was wrong."""
    if not wait(cluster.has_finished, 3.0 * GOES_ON):
        return [f"the run does not end: {cluster.file('learner').read_text()[-2000:]}"]
    problems = [*not_learned(cluster.folder, LEARNED), *unfinished_in(cluster.folder)]
    for name in ("worker 0", "worker 1"):
        if not wait(lambda name=name: cluster.programs[name].poll() is not None, ENDED):  # type: ignore[misc]
            problems.append(f"{name} did not end with the run")
            cluster.programs[name].kill()
    return problems


if __name__ == "__main__":
    sys.exit(main())
