#!/usr/bin/env python3
"""Kills learners of groups at random moments, and resumes the run each time.

    python3 tools/faults/learner_faults.py --kills 40

A run of PPO on CartPole has two learners. One of them is killed (SIGKILL) at a random moment of training, or of the
start of the group every fourth time: learner 0, which has the run, or learner 1. Within the limit the other must have
ended; learner 0 names learner 1 in its error. Then the run is resumed from its last checkpoint, and the next one is
killed. At the end the run is resumed to its last step, and must have learned. No process, shared memory or temporary
file may be left. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import (
    Leftovers,
    children,
    is_alive,
    not_learned,
    parser_of,
    size_of_metrics,
    start,
    unfinished_in,
    verdict,
    wait,
)

#: Seconds until those that remain must have ended, until a run must have begun, and until the last one must be over.
LIMIT, BEGIN, END = 10.0, 120.0, 600.0
_LEARNED = 400.0


def main() -> int:
    parser = parser_of(__doc__, seed=1)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--collective", default="gloo")
    parser.add_argument("--backend", default="torch")
    options = parser.parse_args()
    options.steps = max(30_000 * options.kills, 60_000)  # more than are done between the kills
    draws, problems = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as place:
        folder, leftovers = Path(place) / "run", Leftovers(Path(place))
        for number in range(options.kills):
            problem = _kill_one(folder, draws, options) or "; ".join(leftovers.found())
            problems += [problem] if problem else []
            print(f"kill {number + 1}: {problem or 'ended, named, nothing left'}", flush=True)
        problems += [*_finish(folder, options), *leftovers.found(), *unfinished_in(folder)]
    return verdict(problems)


def _arguments(folder: Path, options: argparse.Namespace) -> list[str]:
    """What makes ``rlgraph`` start the run, or resume it."""
    group = ["--set", "agent.execution_spec.learners=2"]
    if (folder / "config.json").exists():
        return ["resume", str(folder), *group, "--quiet"]
    return [
        *("train", "--agent", "ppo", "--env", "CartPole-v1"),
        *("--backend", options.backend, "--steps", str(options.steps)),
        *("--seed", "1", "--folder", str(folder), "--quiet", "--allow-network", *group),
        *("--set", f"agent.execution_spec.collective={options.collective}"),
        *("--set", "agent.execution_spec.threads=1", "--set", "checkpoints.interval=4000"),
    ]


def _kill_one(folder: Path, draws: random.Random, options: argparse.Namespace) -> str:
    """Starts or resumes the run and kills a learner; returns what was wrong."""
    process = start("rlgraph.cli", *_arguments(folder, options), output=subprocess.PIPE)
    try:
        at_start = any(folder.glob("checkpoints/step-*")) and draws.random() < 0.25
        if not (_joins(process) if at_start else _trains(process, folder)):
            process.kill()
            return f"did not begin: {(process.communicate()[0] or b'').decode()[-800:]}"
        time.sleep(draws.uniform(0.0, 3.0))
        if not (others := _others(process)):
            process.terminate()
            return f"a learner has ended before any was killed: {process.communicate()[0].decode()[-3000:]}"
        (other,) = others
        log = Path(os.readlink(f"/proc/{other}/fd/1"))
        victim = draws.choice([process.pid, other])
        who = f"learner {int(victim == other)}"
        killed = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        is_late = not wait(lambda: not any(map(is_alive, {process.pid, other})), LIMIT)
        seconds = time.monotonic() - killed
        if is_late:
            os.kill(process.pid if victim == other else other, signal.SIGABRT)
        printed = process.communicate(timeout=60.0)[0].decode()
    finally:
        process.kill()
        process.wait()
    if is_late:
        said = printed if victim == other else log.read_text()
        return f"the other did not end within {LIMIT:g} s after {who} was killed: {said[-8000:]}"
    if victim == other and "learner 1" not in printed:
        return f"learner 1 was not named: {printed[-800:]}"
    print(f"{who} killed, the other ended after {seconds:.1f} s", flush=True)
    return ""


def _joins(process: subprocess.Popen[bytes]) -> bool:
    """Wait until a run has started learner 1; False if it does not."""
    wait(lambda: bool(_others(process)) or process.poll() is not None, BEGIN)
    return bool(_others(process))


def _trains(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Wait until a run has written a report; False if it does not. One that is resumed drops some that are there."""
    smallest = size_of_metrics(folder)

    def is_more() -> bool:
        nonlocal smallest
        size, before = size_of_metrics(folder), smallest
        smallest = min(smallest, size)
        return size > before

    return wait(lambda: process.poll() is not None or is_more(), BEGIN) and process.poll() is None


def _others(process: subprocess.Popen[bytes]) -> list[int]:
    """The learners that a process started."""
    return children(process.pid, ["rlgraph.execution.remote.learners"])


def _finish(folder: Path, options: argparse.Namespace) -> list[str]:
    """Resumes the run to its end; returns what was wrong."""
    process = start("rlgraph.cli", *_arguments(folder, options), output=subprocess.PIPE)
    try:
        printed = process.communicate(timeout=END)[0].decode()
    finally:
        process.kill()
    return [f"the last run failed: {printed[-800:]}"] if process.returncode else not_learned(folder, _LEARNED)


if __name__ == "__main__":
    sys.exit(main())
