"""An environment that closes standard output does not end a run; what the command prints still arrives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlgraph.environments import DeterministicEnv

CLOSING = {
    "file": lambda: sys.stdout.close(),
    "descriptor": lambda: (print("buffered"), os.close(1)),
    "both": lambda: (sys.stdout.close(), sys.stderr.close()),
}


class Closing(DeterministicEnv):
    """Closes standard output in a step."""

    def __init__(self, how):
        super().__init__(4)
        self.how = how

    def step(self, action):
        if self.how in CLOSING:
            CLOSING.pop(self.how)()
        return super().step(action)


@pytest.mark.parametrize(
    ("how", "options"), [("file", []), ("descriptor", []), ("descriptor", ["--json"]), ("both", ["--json"])]
)
def test_the_run_ends_properly(tmp_path, how, options):
    environment = json.dumps({"type": "test_closed_output:Closing", "how": how})
    arguments = ["--env", environment, "--agent", "random", "--backend", "numpy", "--steps", "40"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rlgraph.cli", "train", *arguments, *options),
            *("--allow-imports", "test_closed_output", "--folder", tmp_path / "run"),
        ],
        env={**os.environ, "PYTHONPATH": f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert json.loads((tmp_path / "run" / "result.json").read_text())["outcome"] == "finished"
    if options:
        assert json.loads(done.stdout)["updates"] == 0
    else:
        assert "40 steps" in done.stdout
