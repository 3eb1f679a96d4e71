"""Ctrl-C and SIGTERM: a run on Ray ends soon, with a checkpoint, and leaves no process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")

pytestmark = pytest.mark.slow

#: Seconds until everything has ended: 5 on a machine that does nothing else, and it may be running other tests.
LIMIT = 15.0


def session_of(number):
    """The processes that were started by process `number`, and those that these started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    found = {number}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def is_running(number):
    try:
        return (Path("/proc") / str(number) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_soon(tmp_path, number):
    """Ctrl-C goes to all processes of the terminal, those of Ray among them."""
    command = [sys.executable, "-m", "rlgraph.cli", "train", "--agent", "ppo", "--env", "CartPole-v1"]
    command += ["--backend", "torch", "--steps", "10000000", "--quiet", "--folder", str(tmp_path / "run")]
    command += ["--executor", '{"engine": {"type": "ray", "num_cpus": 2}, "actors": 2}']
    run = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    metrics = tmp_path / "run" / "metrics.jsonl"
    until = time.monotonic() + 120.0
    while (
        not (metrics.exists() and metrics.stat().st_size) and run.poll() is None and time.monotonic() < until
    ):
        time.sleep(0.2)
    started = session_of(run.pid)
    assert len(started) > 3, run.communicate()
    began = time.monotonic()
    if number == signal.SIGINT:
        os.killpg(run.pid, number)
    else:
        os.kill(run.pid, number)
    output, _ = run.communicate(timeout=60.0)
    while any(map(is_running, started)) and time.monotonic() < began + 60.0:
        time.sleep(0.05)
    seconds = time.monotonic() - began
    print(f"{seconds:.1f} s")
    assert run.returncode == 130, output
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "interrupted"
    assert (tmp_path / "run" / "checkpoints" / "last" / "manifest.json").exists()
    assert seconds <= LIMIT
