#!/usr/bin/env python3
"""Kills short CartPole runs at random moments, resumes them, and holds the outcome against the run nobody killed.

A run is killed (SIGKILL) up to ``--kills-per-run`` times at random moments, every third time as soon as a checkpoint
is being written, and resumed each time. In the end its metrics, episodes, evaluations, result and checkpoints (weights,
optimizer state, memory, random streams) must be those of the uninterrupted run, bit for bit.

    python3 tools/kill_and_resume.py --backend torch --kills 50
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--kills-per-run", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--num-envs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the moments; the runs have one of their own")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all runs")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.child:
        run(options.child, options)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="kill_and_resume."))
    failed = check(folder, options)
    if options.keep or failed:
        print(f"the runs are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


def check(folder: Path, options: argparse.Namespace) -> int:
    """Kills until all kills are done; how many runs differ."""
    from rlgraph.runs.equality import run_differences

    reference, moments = folder / "uninterrupted", random.Random(options.seed)
    seconds = finish(reference, options)
    print(f"uninterrupted: {seconds:.1f} s, {options.backend}, {options.steps} steps", flush=True)
    kills = in_checkpoint = runs = failed = 0
    while kills < options.kills:
        runs += 1
        killed = folder / f"killed-{runs}"
        for _ in range(min(options.kills_per_run, options.kills - kills)):
            at_checkpoint = kills % 3 == 2
            hit = kill(killed, options, moments.uniform(0.0, seconds), at_checkpoint)
            if hit is None:
                break  # it was through before
            kills, in_checkpoint = kills + 1, in_checkpoint + hit
        finish(killed, options)
        differences = run_differences(reference, killed)
        failed += bool(differences)
        verdict = "; ".join(differences) if differences else "equal"
        print(
            f"run {runs}: {kills} kills so far ({in_checkpoint} inside of a checkpoint): {verdict}",
            flush=True,
        )
        if not differences:
            shutil.rmtree(killed)
    print(
        f"{kills} kills in {runs} runs, {in_checkpoint} while a checkpoint was written: {failed} runs differ"
    )
    return failed


def kill(folder: Path, options: argparse.Namespace, after: float, at_checkpoint: bool) -> bool | None:
    """Start or resume a run and kill it; whether a checkpoint was being written. None: it ended by itself."""
    process = start(folder, options)
    began, checkpoints = time.monotonic(), folder / "checkpoints"
    try:
        while process.poll() is None:
            writing = checkpoints.is_dir() and any(path.suffix == ".new" for path in checkpoints.iterdir())
            late = time.monotonic() - began >= after
            if late and (writing or not at_checkpoint):
                process.kill()
                process.wait()
                return any(path.suffix in (".new", ".old") for path in checkpoints.glob(".*"))
            time.sleep(0.0005)
        if process.returncode:
            raise SystemExit(f"the run failed:\n{process.stderr.read() if process.stderr else ''}")
        return None
    finally:
        process.kill()
        process.wait()


def finish(folder: Path, options: argparse.Namespace) -> float:
    """Start or resume a run and wait for its end; the seconds it took."""
    process, began = start(folder, options), time.monotonic()
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"the run in {folder} failed:\n{errors}")
    return time.monotonic() - began


def start(folder: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    """A run in a process of its own, all imports behind it."""
    command = [sys.executable, __file__, "--child", str(folder), "--backend", options.backend]
    command += ["--steps", str(options.steps), "--num-envs", str(options.num_envs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def run(folder: Path, options: argparse.Namespace) -> None:
    """Do the run, or go on with it; in the child."""
    from rlgraph.agents import Agent
    from rlgraph.runs import resume, train

    spec = document(options)
    # A backend that was used once loads nothing more: the moments fall into the run.
    Agent.from_spec(spec["agent"], env=spec["environment"], backend=spec["backend"], seed=0)
    print("ready", flush=True)
    if (folder / "config.json").exists():
        resume(folder)
    else:
        train(spec, folder)


def document(options: argparse.Namespace) -> dict[str, Any]:
    """The run: evaluations, reports and checkpoints fall on different steps, and exploration decays."""
    layer = {"type": "dense", "units": 32, "activation": "tanh"}
    return {
        "agent": {
            "type": "dqn",
            "network_spec": [layer, layer],
            "execution_spec": {"threads": 1},
            "memory_spec": {"capacity": 3000},
            "update_spec": {"update_interval": 4, "batch_size": 32},
            "sync_interval": 100,
            "exploration_spec": {"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.1}},
        },
        "environment": "CartPole-v1",
        "backend": options.backend,
        "steps": options.steps,
        "seed": 11,
        "worker": {"num_envs": options.num_envs},
        "logging": {"report_interval": 170},
        "evaluation": {"interval": 410, "episodes": 3, "final_episodes": 3},
        "checkpoints": {"interval": 300, "keep_last": 2},
    }


if __name__ == "__main__":
    sys.exit(main())
