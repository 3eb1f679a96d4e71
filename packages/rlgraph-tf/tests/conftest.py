"""Programs in a process of their own, for what has to be said before TensorFlow starts."""

import json
import subprocess
import sys

import pytest

RUN = """
import json
import sys
import traceback

outcomes = {}
for name, program in json.loads(sys.argv[1]).items():
    try:
        exec(program, globals().copy())
        outcomes[name] = ""
    except Exception:
        outcomes[name] = traceback.format_exc()
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="session")
def run_apart():
    """Gives ``run(start, programs)``: what came of each program after `start`; empty where all went well."""

    def run(start, programs):
        command = [sys.executable, "-c", start + RUN, json.dumps(programs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
