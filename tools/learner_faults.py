#!/usr/bin/env python3
"""Kills learners of groups at random moments, and resumes the run each time.

    python3 tools/learner_faults.py --kills 40

A run of PPO on CartPole has two learners. One of them is killed (SIGKILL) at a random moment of training, or of the
start of the group every fourth time: learner 0, which has the run, or learner 1. Within the limit the other must have
ended; learner 0 names learner 1 in its error. Then the run is resumed from its last checkpoint, and the next one is
killed. At the end the run is resumed to its last step, and must have learned. No process may be left. Exit code 1 if
anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Seconds until those that remain must have ended, until a run must have begun, and until the last one must be over.
LIMIT, BEGIN, END = 10.0, 120.0, 600.0
_CHILD = b"rlgraph.execution.remote.learners"
_LEARNED = 400.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--collective", default="gloo")
    parser.add_argument("--backend", default="torch")
    options = parser.parse_args()
    options.steps = max(30_000 * options.kills, 60_000)  # more than are done between the kills
    draws, problems = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        for number in range(options.kills):
            problem = _kill_one(folder, draws, options)
            problems += [problem] if problem else []
            print(f"kill {number + 1}: {problem or 'ended, named'}", flush=True)
        problems += _finish(folder, options)
    print(*problems or ["nothing was wrong"], sep="\n")
    return int(bool(problems))


def _command(folder: Path, options: argparse.Namespace) -> list[str]:
    group = ["--set", "agent.execution_spec.learners=2"]
    rlgraph = [sys.executable, "-m", "rlgraph.cli"]
    if (folder / "config.json").exists():
        return [*rlgraph, "resume", str(folder), *group, "--quiet"]
    return [
        *rlgraph,
        *(
            "train",
            "--agent",
            "ppo",
            "--env",
            "CartPole-v1",
            "--backend",
            options.backend,
            "--steps",
            str(options.steps),
        ),
        *("--seed", "1", "--folder", str(folder), "--quiet", "--allow-network", *group),
        *("--set", f"agent.execution_spec.collective={options.collective}"),
        *("--set", "agent.execution_spec.threads=1", "--set", "checkpoints.interval=4000"),
    ]


def _kill_one(folder: Path, draws: random.Random, options: argparse.Namespace) -> str:
    """Starts or resumes the run and kills a learner; returns what was wrong."""
    # A process that is asked to abort prints where each of its threads is.
    process = subprocess.Popen(
        _command(folder, options),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    try:
        at_start = any(folder.glob("checkpoints/step-*")) and draws.random() < 0.25
        if not (_joins if at_start else _trains)(process, folder):
            process.kill()
            return f"did not begin: {(process.communicate()[0] or b'').decode()[-800:]}"
        time.sleep(draws.uniform(0.0, 3.0))
        if not (others := _children(process.pid)):
            process.terminate()
            return f"a learner has ended before any was killed: {process.communicate()[0].decode()[-3000:]}"
        (other,) = others
        log = Path(os.readlink(f"/proc/{other}/fd/1"))
        victim = draws.choice([process.pid, other])
        who = f"learner {int(victim == other)}"
        killed = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        while (is_late := any(map(_is_alive, {process.pid, other}))) and time.monotonic() - killed < LIMIT:
            time.sleep(0.05)
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


def _joins(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Wait until a run has started learner 1; whether it has."""
    began = time.monotonic()
    while not _children(process.pid):
        if process.poll() is not None or time.monotonic() - began > BEGIN:
            return False
        time.sleep(0.05)
    return True


def _trains(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Wait until a run has written a report; whether it has. One that is resumed drops some that are there."""
    began, smallest = time.monotonic(), _metrics(folder)
    while (size := _metrics(folder)) <= smallest:
        if process.poll() is not None or time.monotonic() - began > BEGIN:
            return False
        smallest = min(smallest, size)
        time.sleep(0.05)
    return True


def _metrics(folder: Path) -> int:
    file = folder / "metrics.jsonl"
    return file.stat().st_size if file.exists() else 0


def _children(parent: int) -> list[int]:
    """The learners that a process started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            number = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if number == parent and _CHILD in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it ended meanwhile
            continue
    return found


def _is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _finish(folder: Path, options: argparse.Namespace) -> list[str]:
    """Resumes the run to its end; returns what was wrong."""
    done = subprocess.run(_command(folder, options), capture_output=True, text=True, timeout=END)
    if done.returncode:
        return [f"the last run failed: {(done.stdout + done.stderr)[-800:]}"]
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    returns = result["evaluation"]["returns"]
    mean = sum(returns) / len(returns)
    print(f"finished with a mean return of {mean:.1f}; {len(result['departures'])} departures", flush=True)
    return [] if mean >= _LEARNED else [f"learned {mean:.1f}, expected {_LEARNED}"]


if __name__ == "__main__":
    sys.exit(main())
