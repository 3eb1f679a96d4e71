#!/usr/bin/env python3
"""Kills short runs at random moments, resumes them, and compares each with a run that was never killed.

For every agent, eager and compiled: a run is killed (SIGKILL) up to ``--kills-per-run`` times, each third time as soon
as a checkpoint is being written, and resumed each time. At the end its metrics, episodes, evaluations, result and
checkpoints (weights, optimizer state, experience, random streams) must equal those of the uninterrupted run bit for
bit. A resumed run repeats the choices of compiled programs that its checkpoint holds.

    python3 tools/faults/kill_and_resume.py --backend torch --kills 20
    python3 tools/faults/kill_and_resume.py --backend tf --agents reinforce --modes eager
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from harness import parser_of, without_pictures

from rlgraph.runs import resume, run_differences, train
from rlgraph.workers import Callback

LAYERS = [{"type": "dense", "units": 16, "activation": "tanh"}] * 2
#: Environments, and steps between checkpoints: 101 in each environment, so that rollouts are unfinished there.
NUM_ENVS, INTERVAL = 3, 101 * 3
#: Agent -> its options. Others run with their defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    "ppo": {"rollout_length": 64, "num_minibatches": 2, "network_spec": LAYERS, "kl_limit": 0.05},
    "a2c": {"rollout_length": 16, "network_spec": LAYERS},
    "sac": {
        "network_spec": LAYERS,
        "memory_spec": {"capacity": 700},
        "update_spec": {"update_interval": 4, "batch_size": 16},
    },
    "dqn": {
        "network_spec": LAYERS,
        "n_step": 3,
        "memory_spec": {"type": "prioritized_replay", "capacity": 1500},
        "update_spec": {"update_interval": 4, "batch_size": 16},
        "sync_interval": 100,
        "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.1}},
    },
}
#: Agent -> environment and steps.
TASKS = {"sac": ("Pendulum-v1", 2500), "a2c": ("CartPole-v1", 8000)}
OTHER_TASK = ("CartPole-v1", 4000)
#: Backend -> modules that every process needs: they are imported once.
FRAMEWORKS = {
    "torch": ["rlgraph.torch.executor", "torch._inductor.standalone_compile"],
    "tf": ["rlgraph.tf.executor"],
}

CONTEXT = multiprocessing.get_context("forkserver")


def main() -> int:
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--agents", nargs="+", default=list(OPTIONS), metavar="AGENT")
    parser.add_argument("--modes", nargs="+", default=["eager", "compiled"], choices=["eager", "compiled"])
    parser.add_argument("--kills", type=int, default=20, help="of each agent in each mode")
    parser.add_argument("--kills-per-run", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="keep the folder with all runs")
    options = parser.parse_args()
    CONTEXT.set_forkserver_preload(["__main__", *FRAMEWORKS.get(options.backend, [])])
    folder = Path(tempfile.mkdtemp(prefix="kill_and_resume."))
    moments = random.Random(options.seed)
    failed = 0
    for agent in options.agents:
        for mode in options.modes:
            spec = document(agent, options.backend, mode == "compiled")
            cell = Cell(f"{agent}, {options.backend}, {mode}", spec, folder / f"{agent}-{mode}", moments)
            failed += cell.check(options.kills, options.kills_per_run)
    if options.keep or failed:
        print(f"the runs are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


def document(agent: str, backend: str, compiled: bool) -> dict[str, Any]:
    """A run whose evaluations, reports, checkpoints and rollouts end at different steps."""
    environment, steps = TASKS.get(agent, OTHER_TASK)
    execution = {"threads": 1, "compile": compiled}
    return {
        "agent": {"type": agent, "execution_spec": execution, **OPTIONS.get(agent, {})},
        "environment": environment,
        "backend": backend,
        "steps": steps,
        "seed": 11,
        "worker": {"num_envs": NUM_ENVS},
        "logging": {"report_interval": 170, "tensorboard": False},
        "evaluation": {"interval": 1010, "episodes": 2, "final_episodes": 2},
        "checkpoints": {"interval": INTERVAL},
    }


@dataclass
class Cell:
    """One agent in one mode.

    Attributes:
        name: in the output.
        spec: document of the runs.
        folder: holds the runs.
        moments: draws the moments of the kills.
    """

    name: str
    spec: dict[str, Any]
    folder: Path
    moments: random.Random

    def check(self, wanted: int, per_run: int) -> int:
        """Kill until all kills are done; how many runs differ."""
        began, reference = time.monotonic(), self.folder / "uninterrupted"
        first = self.folder / "first"
        self._finish(first)  # it compiles what the others find on disk
        seconds = self._finish(reference)
        kills = in_checkpoint = runs = failed = 0
        while kills < wanted:
            runs += 1
            killed = self.folder / f"killed-{runs}"
            for _ in range(min(per_run, wanted - kills)):
                hit = self._kill(killed, self.moments.uniform(0.0, seconds), at_checkpoint=kills % 3 == 2)
                if hit is None:
                    break  # it ended before
                kills, in_checkpoint = kills + 1, in_checkpoint + hit
            self._finish(killed)
            if differences := run_differences(reference, killed):
                failed += 1
                print(f"{self.name}: {killed.name}: {'; '.join(differences)}", flush=True)
            else:
                shutil.rmtree(killed)
        print(
            f"{self.name}: {kills} kills in {runs} runs of {seconds:.1f} s, {in_checkpoint} while a checkpoint was "
            f"written: {failed} runs differ ({time.monotonic() - began:.0f} s)",
            flush=True,
        )
        return failed

    def _kill(self, folder: Path, after: float, at_checkpoint: bool) -> bool | None:
        """Start or resume a run and kill it; whether a checkpoint was being written. None: it ended before."""
        process = self._start(folder)
        began, checkpoints = time.monotonic(), folder / "checkpoints"
        try:
            while process.is_alive():
                writing = any(path.suffix == ".new" for path in checkpoints.glob(".*"))
                if time.monotonic() - began >= after and (writing or not at_checkpoint):
                    process.kill()
                    process.join()
                    return any(path.suffix in (".new", ".old") for path in checkpoints.glob(".*"))
                time.sleep(0.0005)
        finally:
            process.kill()
            process.join()
        _check(process)
        return None

    def _finish(self, folder: Path) -> float:
        """Start or resume a run and wait for its end; the seconds it took."""
        process, began = self._start(folder), time.monotonic()
        process.join()
        _check(process)
        return time.monotonic() - began

    def _start(self, folder: Path) -> ForkServerProcess:
        """A run in a process of its own, its training begun."""
        ready, begun = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=run, args=(folder, self.spec, begun))
        process.start()
        begun.close()
        wait([ready, process.sentinel])
        return process


def _check(process: ForkServerProcess) -> None:
    if process.exitcode:
        raise SystemExit("a run failed")


class Begun(Callback):
    """Tells the parent that the training begins."""

    def __init__(self, connection: Connection):
        self.connection = connection

    def on_start(self, worker: Any, timesteps: int) -> None:
        self.connection.send(None)


def run(folder: Path, spec: dict[str, Any], begun: Connection) -> None:
    """Do the run, or resume it; in the child."""
    without_pictures()
    if (folder / "config.json").exists():
        resume(folder, callbacks=[Begun(begun)])
    else:
        train(spec, folder, [Begun(begun)])


if __name__ == "__main__":
    sys.exit(main())
