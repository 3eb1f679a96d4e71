#!/usr/bin/env python3
"""Kills short runs at random moments, resumes them, and compares each with a run that was never killed.

For every agent, eager and compiled: a run is killed (SIGKILL) up to ``--kills-per-run`` times, each third time as soon
as a checkpoint is being written, and resumed each time. At the end its metrics, episodes, evaluations, result and
checkpoints (weights, optimizer state, experience, random streams) must equal those of the uninterrupted run bit for
bit. A resumed run repeats the choices of compiled programs that its checkpoint holds. No temporary folder of a save may
be left at the end, nor one of an earlier kill once two more checkpoints were written.

``--during saves``: every kill is at a save, by turns before a random one of its file operations (files opened to write,
renames, folders made and removed) and at a random moment of it.

    python3 tools/faults/kill_and_resume.py --backend torch --kills 20
    python3 tools/faults/kill_and_resume.py --backend torch --modes eager --kills 6 --kills-per-run 2 --during saves
    python3 tools/faults/kill_and_resume.py --backend tf --agents reinforce --modes eager
    python3 tools/faults/kill_and_resume.py --backend torch --agents ppo-in-graph dqn-in-graph --kills 5
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from harness import parser_of, unfinished_in, without_pictures

from rlgraph.runs import resume, run_differences, train
from rlgraph.workers import Callback, record_data_set

LAYERS = [{"type": "dense", "units": 16, "activation": "tanh"}] * 2
SMALL: dict[str, Any] = {
    "network_spec": LAYERS,
    "memory_spec": {"capacity": 700},
    "update_spec": {"update_interval": 4, "batch_size": 16},
}
PRIORITIZED: dict[str, Any] = {
    **SMALL,
    "n_step": 3,
    "memory_spec": {"type": "prioritized_replay", "capacity": 1500},
    "sync_interval": 100,
}
#: Environments, and steps between checkpoints: 101 in each environment, so that rollouts are unfinished there.
NUM_ENVS, INTERVAL = 3, 101 * 3
#: Agent -> its options. Others run with their defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    "ppo": {"rollout_length": 64, "num_minibatches": 2, "network_spec": LAYERS, "kl_limit": 0.05},
    "a2c": {"rollout_length": 16, "network_spec": LAYERS},
    "impala": {"rollout_length": 16, "network_spec": LAYERS},
    "sac": SMALL,
    "td3": SMALL,
    "dqn": {
        **PRIORITIZED,
        "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.1}},
    },
    "qr_dqn": {**SMALL, "num_quantiles": 10},
    "c51": {**SMALL, "low": 0.0, "high": 100.0},
    "rainbow": {**PRIORITIZED, "low": 0.0, "high": 100.0},
    "apex": {**PRIORITIZED, "update_spec": {**SMALL["update_spec"], "steps_before_update": 200}},
    "dqfd": {**SMALL, "n_step": 3, "memory_spec": {"capacity": 1500}},
    "iql": {"network_spec": LAYERS, "memory_spec": {"capacity": 1500}},
    "bc": {"network_spec": LAYERS, "memory_spec": {"capacity": 1500}},
    "random": {},
    "ppo-in-graph": {"rollout_length": 64, "num_minibatches": 2, "network_spec": LAYERS},
    "dqn-in-graph": {
        **SMALL,
        "update_spec": {"update_interval": 12, "batch_size": 16, "steps_before_update": 200},
        "sync_interval": 96,
        "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.1}},
    },
}
#: What the names of agents that are in one program with their environment end in.
IN_GRAPH = "-in-graph"
#: Agent -> environment and steps.
TASKS = {
    "sac": ("Pendulum-v1", 2500),
    "td3": ("Pendulum-v1", 2500),
    "a2c": ("CartPole-v1", 8000),
    "ppo-in-graph": ("rlgraph/CartPole-v1", 20_000),
    "dqn-in-graph": ("rlgraph/CartPole-v1", 20_000),
}
OTHER_TASK = ("CartPole-v1", 4000)
#: Agents that learn from demonstrations first, and those that learn from nothing else.
SHOWN, OFFLINE = ("dqfd", "iql", "bc"), ("iql", "bc")
UPDATES, EPISODES = 150, 5
#: Seconds between the two moments between which a save that has begun is killed.
SAVING = (0.0, 0.006)
#: Modules that every process needs: they are imported once. Backend -> those of its own.
NEEDED = ["gymnasium.envs.classic_control", "numba.core.dispatcher", "rlgraph.runs.curve"]
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
    parser.add_argument("--during", default="all", choices=["all", "saves"], help="moments of the kills")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all runs")
    options = parser.parse_args()
    CONTEXT.set_forkserver_preload(["__main__", *NEEDED, *FRAMEWORKS.get(options.backend, [])])
    folder = Path(tempfile.mkdtemp(prefix="kill_and_resume."))
    moments = random.Random(options.seed)
    shown = record_data_set(
        lambda state: int(state[2] > 0.0), "CartPole-v1", EPISODES, folder / "shown.npz", seed=1
    )
    failed = 0
    for agent in options.agents:
        for mode in options.modes:
            spec = document(agent, options.backend, mode == "compiled", shown)
            cell = Cell(
                name=f"{agent}, {options.backend}, {mode}",
                spec=spec,
                folder=folder / f"{agent}-{mode}",
                moments=moments,
                only_saves=options.during == "saves",
            )
            failed += cell.check(options.kills, options.kills_per_run)
    if options.keep or failed:
        print(f"the runs are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


def document(agent: str, backend: str, compiled: bool, shown: Path) -> dict[str, Any]:
    """A run whose evaluations, reports, checkpoints and rollouts end at different steps; a data set for some."""
    environment, steps = TASKS.get(agent, OTHER_TASK)
    execution = {"threads": 1, "compile": compiled}
    data = {"data": {"file": str(shown), "updates": UPDATES}} if agent in SHOWN else {}
    return {
        "agent": {
            "type": agent.removesuffix(IN_GRAPH),
            "execution_spec": execution,
            **OPTIONS.get(agent, {}),
        },
        "environment": environment,
        "backend": backend,
        "steps": 0 if agent in OFFLINE else steps,
        "seed": 11,
        **data,
        "worker": {"num_envs": NUM_ENVS, **({"in_graph": True} if agent.endswith(IN_GRAPH) else {})},
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
        only_saves: kills are at saves only.
    """

    name: str
    spec: dict[str, Any]
    folder: Path
    moments: random.Random
    only_saves: bool

    def check(self, wanted: int, per_run: int) -> int:
        """Kill until all kills are done; how many runs differ, or leave something."""
        began, reference = time.monotonic(), self.folder / "uninterrupted"
        first = self.folder / "first"
        self._finish(first)  # it compiles what the others find on disk
        seconds, operations = self._finish(reference)
        kills = in_checkpoint = runs = failed = 0
        while kills < wanted:
            runs += 1
            killed, problems = self.folder / f"killed-{runs}", list[str]()
            for _ in range(min(per_run, wanted - kills)):
                before = Saved(killed)
                if self.only_saves and kills % 2 == 0:
                    hit = self._kill(killed, operation=self.moments.randrange(operations) + 1)
                elif self.only_saves:
                    hit = self._kill(killed, self.moments.uniform(0.0, 0.5 * seconds), at_checkpoint=True)
                else:
                    after = self.moments.uniform(0.0, seconds)
                    hit = self._kill(killed, after, at_checkpoint=kills % 3 == 2)
                if hit is None:
                    break  # it ended before
                kills, in_checkpoint = kills + 1, in_checkpoint + hit
                problems += before.left_after(Saved(killed))
            self._finish(killed)
            problems += [*Saved(killed).left, *run_differences(reference, killed)]
            if problems:
                failed += 1
                print(f"{self.name}: {killed.name}: {'; '.join(problems)}", flush=True)
            else:
                shutil.rmtree(killed)
        print(
            f"{self.name}: {kills} kills in {runs} runs of {seconds:.1f} s, {in_checkpoint} while a checkpoint was "
            f"written: {failed} runs differ ({time.monotonic() - began:.0f} s)",
            flush=True,
        )
        return failed

    def _kill(
        self, folder: Path, after: float = 0.0, at_checkpoint: bool = False, operation: int = 0
    ) -> bool | None:
        """Start or resume a run and kill it; whether a checkpoint was being written. None: it ended before.

        Args:
            folder: of the run.
            after: seconds until it is killed.
            at_checkpoint: it is killed at a moment of the first save after that.
            operation: it is killed before this operation of a save; 0: by the other arguments.
        """
        process, _ = self._start(folder, operation)
        began, checkpoints = time.monotonic(), folder / "checkpoints"
        try:
            while process.is_alive() and not operation:
                writing = any(path.suffix == ".new" for path in checkpoints.glob(".*"))
                if time.monotonic() - began >= after and (writing or not at_checkpoint):
                    time.sleep(self.moments.uniform(*SAVING) if self.only_saves else 0.0)
                    break
                time.sleep(0.0005)
            process.kill() if not operation else None
            process.join()
        finally:
            process.kill()
            process.join()
        if process.exitcode == -signal.SIGKILL:
            return bool(Saved(folder).left)
        _check(process)
        return None

    def _finish(self, folder: Path) -> tuple[float, int]:
        """Start or resume a run and wait for its end; the seconds it took, and the operations of its saves."""
        process, operations = self._start(folder)
        began = time.monotonic()
        process.join()
        _check(process)
        return time.monotonic() - began, operations.value

    def _start(self, folder: Path, operation: int = 0) -> tuple[ForkServerProcess, Any]:
        """A run in a process of its own, its training begun, and the number of its file operations."""
        ready, begun = CONTEXT.Pipe(duplex=False)
        operations = CONTEXT.Value("q", 0, lock=False)
        process = CONTEXT.Process(target=run, args=(folder, self.spec, begun, operations, operation))
        process.start()
        begun.close()
        wait([ready, process.sentinel])
        return process, operations


class Saved:
    """The temporary files and folders in a run's folder, and its newest checkpoint.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path):
        self.left = unfinished_in(folder)
        steps = (re.fullmatch(r"step-(\d+)", path.name) for path in folder.glob("checkpoints/step-*"))
        self.newest = max((int(match[1]) for match in steps if match), default=0)

    def left_after(self, later: Saved) -> list[str]:
        """What is still there although two more checkpoints were written."""
        return [
            name for name in self.left if name in later.left and later.newest >= self.newest + 2 * INTERVAL
        ]


class FileOperations:
    """Counts the operations on the files of checkpoints, an audit hook; the process is killed before one of them.

    Args:
        number: is counted up.
        last: before it the process is killed; 0: never.
    """

    def __init__(self, number: Any, last: int):
        self.number, self.last = number, last

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        # A folder is removed by names relative to it.
        path = arguments[0] if isinstance(arguments[0], str | Path) else ""
        is_relative = event in ("os.remove", "os.rmdir") and not os.path.isabs(path)
        if "/checkpoints/" in str(path) or is_relative:
            self.number.value += 1
            if self.number.value == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def _check(process: ForkServerProcess) -> None:
    if process.exitcode:
        raise SystemExit("a run failed")


class Begun(Callback):
    """Tells the parent that the training begins."""

    def __init__(self, connection: Connection):
        self.connection = connection

    def on_start(self, worker: Any, timesteps: int) -> None:
        self.connection.send(None)


def run(folder: Path, spec: dict[str, Any], begun: Connection, operations: Any, last: int) -> None:
    """Do the run, or resume it; in the child."""
    without_pictures()
    sys.addaudithook(FileOperations(operations, last))
    if (folder / "config.json").exists():
        resume(folder, callbacks=[Begun(begun)])
    else:
        train(spec, folder, [Begun(begun)])


if __name__ == "__main__":
    sys.exit(main())
