"""Ctrl-C and SIGTERM: a run on Ray ends soon, with a checkpoint, and leaves no process."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ray")

from rlgraph.runs import resume
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.workers import Callback

pytestmark = pytest.mark.slow

#: Seconds until everything has ended: 5 on a machine that does nothing else. One that runs other tests may be too slow
#: for Ray, which then kills its own processes; those that these had started end after a minute.
LIMIT = 120.0


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


@contextmanager
def running(folder, *, until):
    """A run on Ray in another process, as soon as its folder has something; and all its processes."""
    command = [sys.executable, "-m", "rlgraph.cli", "train", "--agent", "ppo", "--env", "CartPole-v1"]
    command += ["--backend", "torch", "--steps", "10000000", "--quiet", "--folder", str(folder)]
    command += ["--executor", '{"engine": {"type": "ray", "num_cpus": 2}, "actors": 2}']
    command += ["--set", "checkpoints.interval=2048"]
    run = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    limit = time.monotonic() + 120.0
    while not any(folder.glob(until)) and run.poll() is None and time.monotonic() < limit:
        time.sleep(0.1)
    started = session_of(run.pid)
    assert len(started) > 3, run.communicate()
    try:
        yield run, started
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def agents_of(started):
    """Ray's agents of a node, which look from time to time whether it is still there."""
    return {number for number in started if b"Agent" in command_of(number)}


def command_of(number):
    try:
        return (Path("/proc") / str(number) / "cmdline").read_bytes()
    except OSError:  # it ended meanwhile
        return b""


def seconds_until_gone(started):
    began = time.monotonic()
    while any(map(is_running, started)) and time.monotonic() < began + LIMIT:
        time.sleep(0.05)
    return time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_soon(tmp_path, number):
    """Ctrl-C goes to all processes of the terminal, those of Ray among them."""
    with running(tmp_path / "run", until="checkpoints/step-*") as (run, started):
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
        assert seconds_until_gone(started) < LIMIT
        output, _ = run.communicate()
    assert run.returncode == 130, output
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "interrupted"
    assert (tmp_path / "run" / "checkpoints" / "last" / "manifest.json").exists()


class StopAtReport(Callback):
    """Ends the run at the first report."""

    def on_report(self, worker, metrics):
        return True


def test_a_learner_that_is_killed_resumes_from_its_checkpoint(tmp_path):
    """Its actors end with it, Ray's agents a minute later; the run resumes anywhere, here in one process."""
    folder = tmp_path / "run"
    with running(folder, until="checkpoints/step-*") as (run, started):
        agents = agents_of(started)
        run.kill()
        assert seconds_until_gone(started - agents) < LIMIT
    _, state = RunCheckpoints(folder / "checkpoints", 2, memory=True).newest()
    overrides = ["executor_spec.engine=in_process", "executor_spec.actors=1"]
    summary = resume(folder, overrides=overrides, callbacks=[StopAtReport()])
    assert summary.training.timesteps > state.worker.done >= 2048
    assert "its actors began new episodes" in summary.departures[0]
