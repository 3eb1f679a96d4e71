"""Ctrl-C in a training run started from a shell."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from rlgraph.agents import Agent

pytestmark = pytest.mark.slow


def wait_for_report(process, file):
    """Until the first report is on disk."""
    limit = time.monotonic() + 60
    while not (file.exists() and len(file.read_text().splitlines()) > 1):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit, "no report after a minute"
        time.sleep(0.05)


def test_ctrl_c(backends, tiny, tmp_path):
    if not backends:
        pytest.skip("needs a backend that can learn")
    backend = backends[-1]  # one is enough: the signal is handled above it
    arguments = [
        "train",
        "--agent",
        tiny(execution_spec={"threads": 1}),
        "--env",
        "deterministic",
        "--backend",
        backend,
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "rlgraph.cli", *arguments, "--steps", "100000000", "--folder", "run"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_report(process, tmp_path / "run" / "metrics.csv")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert "Interrupted" in out
    assert "resume run" in out
    assert "fresh episodes" not in out
    assert "Traceback" not in out + err
    run = json.loads((tmp_path / "run" / "config.json").read_text())["run"]
    # TensorFlow cannot change its threads in this process.
    agent = Agent.from_spec({**run["agent"], "execution_spec": {}}, env=run["environment"], backend=backend)
    agent.load_model(tmp_path / "run" / "checkpoints" / "last")
    # The signal may come between a step and its count, or between a step and its update.
    (printed,) = re.findall(r"([\d,]+) steps, ", out)
    assert agent.timesteps - int(printed.replace(",", "")) in (0, 1)
    assert agent.timesteps // 4 - agent.updates in (0, 1)
    assert agent.timesteps >= 1000
    assert agent.call_api_method("get_memory_size") == 200
    assert (tmp_path / "run" / "curve.png").read_bytes()[:4] == b"\x89PNG"
