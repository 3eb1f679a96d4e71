"""The process that says why Ray ended a program."""

import subprocess
import sys

import pytest

from rlgraph.execution.ray import witness

#: A program whose raylet, another process, has ended or not; then it ends at once, or in order.
PROGRAM = f"""
import os, runpy, subprocess, sys
Witness = runpy.run_path({witness.__file__!r})["Witness"]
raylet = subprocess.Popen(["sleep", "0" if {{gone}} else "2"], stderr=subprocess.DEVNULL)
if {{gone}}:
    raylet.wait()
ours = Witness(raylet.pid)
{{end}}
"""


@pytest.mark.parametrize(
    ("gone", "end", "says"),
    [(True, "os._exit(1)", "ClusterLost"), (True, "ours.dismiss()", ""), (False, "os._exit(1)", "")],
)
def test_it_speaks_where_a_program_ended_without_its_raylet(gone, end, says):
    program = PROGRAM.format(gone=gone, end=end)
    # The pipe of errors ends with the witness, which outlives the program.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert says in done.stderr if says else not done.stderr, done.stderr
