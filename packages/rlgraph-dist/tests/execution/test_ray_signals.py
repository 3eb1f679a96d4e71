"""Ctrl-C and SIGTERM: a run on Ray ends soon, with a checkpoint, and leaves no process."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("ray")

import psutil
from doubles import told

from rlgraph.runs import resume
from rlgraph.runs.checkpoints import RunCheckpoints

pytestmark = pytest.mark.slow

#: Seconds until everything has ended: 5 on a machine that does nothing else.
LIMIT = 60.0


@contextmanager
def running(folder, *, until):
    """A run on Ray in another process, as soon as its folder has something; and all its processes."""
    command = [sys.executable, "-m", "rlgraph.cli", "train", "--agent", "ppo", "--env", "CartPole-v1"]
    command += ["--backend", "torch", "--steps", "10000000", "--quiet", "--folder", str(folder)]
    command += ["--executor", '{"engine": {"type": "ray", "num_cpus": 2}, "actors": 2}']
    command += ["--set", "checkpoints.interval=2048"]
    # Tests that run in the background of a shell ignore Ctrl-C, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    signal.signal(signal.SIGINT, before)
    limit = time.monotonic() + 120.0
    while not any(folder.glob(until)) and run.poll() is None and time.monotonic() < limit:
        time.sleep(0.1)
    started = psutil.Process(run.pid).children(recursive=True)
    assert len(started) > 3, run.communicate()
    try:
        yield run, started
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def agents_of(started):
    """Ray's agents of a node, which look from time to time whether it is still there."""
    return [process for process in started if "Agent" in " ".join(process.cmdline())]


def seconds_until_gone(started):
    began = time.monotonic()
    psutil.wait_procs(started, timeout=LIMIT)
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


def test_a_learner_that_is_killed_resumes_from_its_checkpoint(tmp_path):
    """Its actors end with it, Ray's agents a minute later; the run resumes anywhere, here in one process."""
    folder = tmp_path / "run"
    with running(folder, until="checkpoints/step-*") as (run, started):
        agents = agents_of(started)
        run.kill()
        assert seconds_until_gone([each for each in started if each not in agents]) < LIMIT
    _, state = RunCheckpoints(folder / "checkpoints", 2, memory=True).newest()
    overrides = ["executor_spec.engine=in_process", "executor_spec.actors=1"]
    summary = resume(folder, overrides=overrides, callbacks=[told(on_report=lambda *_: True)])
    assert summary.training.timesteps > state.worker.done >= 2048
    assert "its actors began new episodes" in summary.departures[0]
