"""300 documents and run folders of somebody else: nothing connects, starts, imports or writes outside of the run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("hostile_data.py")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the documents name pipes")
def test_data_does_nothing_outside_of_its_run(tmp_path):
    (tmp_path / "canary_module.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "cluster.json").write_text('{"learner": ["127.0.0.1:9"], "actor": ["127.0.0.1:10"]}')
    os.mkfifo(tmp_path / "pipe.json")
    before = sorted(file.name for file in tmp_path.iterdir())
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(tmp_path),  # nothing but the rules keeps the module out
        "TMPDIR": str(tmp_path / "runs"),
        "RLGRAPH_BACKEND": "numpy",
    }
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["seen"] == []
    assert found["accepted"] > 80 and found["refused"] > 300  # both are tried
    assert sorted(file.name for file in tmp_path.iterdir() if file.name != "runs") == before
