"""kill -9 in the middle of a run. ``tools/faults/kill_and_resume.py`` does this at many random moments."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlgraph.runs import run_differences

SCRIPT = str(Path(__file__).with_name("short_run.py"))


def kill(folder, backend, when):
    """Start the run, or go on with it, and kill it as soon as `when()`."""
    process = subprocess.Popen(
        [sys.executable, SCRIPT, str(folder), backend], stderr=subprocess.PIPE, text=True
    )
    limit = time.monotonic() + 100
    try:
        while not when():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < limit
            time.sleep(0.0005)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_three_kills(backends, python, tmp_path):
    if not backends:
        pytest.skip("needs a backend that can learn")
    backend = "torch" if "torch" in backends else backends[0]
    killed, reference = tmp_path / "killed", tmp_path / "reference"
    checkpoints = killed / "checkpoints"

    def rows(number):
        file = killed / "metrics.csv"
        return lambda: file.exists() and len(file.read_text().splitlines()) > number

    def writing():
        return checkpoints.exists() and any(
            path.name.endswith(".new") for path in checkpoints.glob(".step-*")
        )

    kill(killed, backend, rows(3))
    kill(killed, backend, rows(20))
    kill(killed, backend, writing)
    python(SCRIPT, str(killed), backend)
    python(SCRIPT, str(reference), backend)
    assert run_differences(reference, killed) == []
