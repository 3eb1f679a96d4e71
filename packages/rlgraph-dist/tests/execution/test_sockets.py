"""Who can connect while something runs on one machine: this machine alone, or everybody, which is allowed and said."""

import importlib.util
import json
import subprocess
import sys
from ipaddress import ip_address

import pytest

pytest.importorskip("psutil")
pytestmark = pytest.mark.slow

#: Trains, and prints the addresses at which this process and those that it started have listened meanwhile.
PROGRAM = """
import json, sys, threading, psutil
from rlgraph.agents import Agent
from rlgraph.execution import SyncBatchExecutor

seen, over = set(), threading.Event()

def watch():
    while not over.wait(0.2):
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            try:
                found = process.net_connections("inet")
            except psutil.Error:  # it has ended
                continue
            seen.update(each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN)

if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    watching = threading.Thread(target=watch)
    watching.start()
    spec = {
        "type": "ppo",
        "network_spec": [{"type": "dense", "units": 4}],
        "rollout_length": 8,
        "num_epochs": 1,
        "num_minibatches": 1,
        "execution_spec": {"threads": None, **order.get("execution_spec", {})},
    }
    if order.get("engine"):
        executor = SyncBatchExecutor(
            spec, "CartPole-v1", backend=order["backend"], actors=1, num_envs=2, engine=order["engine"]
        )
        executor.execute(steps=64)
    else:
        Agent.from_spec(spec, env="CartPole-v1", backend=order["backend"]).learn(256, num_envs=2)
    over.set()
    watching.join()
    print(json.dumps(sorted(seen)))
"""


def addresses(order, folder):
    """The addresses, and what was printed besides."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), json.dumps({"backend": "numpy", **order})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def is_of_this_machine(address):
    found = ip_address(address)
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def learners(collective, **options):
    return {"execution_spec": {"learners": 2, "collective": collective, **options}}


@pytest.mark.parametrize(
    ("order", "needs"),
    [
        ({"backend": "torch", "engine": {"type": "ray", "num_cpus": 1}}, "ray"),
        ({"backend": "torch", **learners("gloo")}, "torch"),
        ({"backend": "torch", **learners("gloo", launcher="ray")}, "ray"),
        ({"backend": "torch", **learners("horovod")}, "horovod"),
    ],
    ids=["ray", "gloo", "learners on ray", "horovod"],
)
def test_only_this_machine_can_connect(order, needs, tmp_path):
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    found, _ = addresses(order, tmp_path)
    assert found and all(map(is_of_this_machine, found)), found


def test_nothing_listens_in_one_process(tmp_path):
    found, _ = addresses({"backend": "torch", "engine": "in_process"}, tmp_path)
    assert found == []


@pytest.mark.parametrize(
    "order",
    [
        {"backend": "torch", "engine": {"type": "distributed_tf", "allow_network": True}},
        {"backend": "tf", **learners({"type": "tensorflow", "allow_network": True})},
    ],
    ids=["distributed_tf", "tensorflow"],
)
def test_a_server_that_others_can_reach_says_so(order, tmp_path):
    pytest.importorskip("tensorflow")
    found, said = addresses(order, tmp_path)
    # Should TensorFlow listen on loopback alone one day, it needs no permission any more.
    assert not all(map(is_of_this_machine, found))
    assert "TensorFlow's server listens on port " in said and "all interfaces" in said
