"""Ray's token: clusters that are started here ask for it, and `auto` takes it."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("ray")

import psutil

pytestmark = pytest.mark.slow

#: Starts a cluster, says where, and ends it when its input is closed.
STARTS = """
import sys, ray
from rlgraph.execution.ray.engine import RayEngine
engine = RayEngine(num_cpus=1)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
engine.close()
"""
#: Another program of this machine.
COMES = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False); print(ray.cluster_resources()['CPU'])"
AUTO = """
import ray
from rlgraph.execution.ray.engine import RayEngine
engine = RayEngine(address="auto", connect_timeout=60.0)
print(ray.cluster_resources()["CPU"])
engine.close()
"""


@pytest.fixture
def environment(tmp_path):
    """That of programs of a user who has never used Ray."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {**kept, "HOME": str(tmp_path), "RAY_USAGE_STATS_ENABLED": "0"}


def run(code, environment, *arguments, **options):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**environment, **options}, timeout=120, check=False
    )


def test_a_program_without_the_token_is_refused(environment, tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen([sys.executable, "-c", STARTS], env=environment, text=True, **pipes)
    try:
        address = started.stdout.readline().strip()
        assert address.startswith("127.0.0.1:") and (tmp_path / ".ray" / "auth_token").exists()
        # Else Ray looks for an address of this machine at the other interfaces, where nothing listens.
        here = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        assert run(COMES, environment, address, RAY_AUTH_MODE="token", **here).stdout == "1.0\n"
        stranger = {**environment, "HOME": str(tmp_path / "stranger")}
        for mode in ("disabled", "token"):
            came = run(COMES, stranger, address, RAY_AUTH_MODE=mode, **here)
            assert came.returncode != 0 and came.stdout == "", came
    finally:
        started.communicate(timeout=60)


def test_auto_takes_the_token(environment, tmp_path):
    """As ``ray.init(address="auto")`` does."""
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("7" * 64)
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--num-cpus", "3", "--block"]
    command += ["--include-dashboard=false", "--port", "0"]
    head = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        while "Ray runtime started" not in (line := head.stdout.readline()):
            assert line or head.poll() is None, "it has ended"
        found = run(AUTO, environment)
        assert found.stdout == "3.0\n", found.stderr
    finally:
        children = psutil.Process(head.pid).children(recursive=True)
        head.send_signal(signal.SIGTERM)
        _, left = psutil.wait_procs(children, timeout=20.0)
        for process in left:
            process.kill()
        head.stdout.close()
        head.wait(20.0)
