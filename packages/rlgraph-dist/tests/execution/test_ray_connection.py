"""Ray that is not installed, and addresses at which no cluster answers."""

import socket
import sys
import time

import pytest

pytest.importorskip("ray")

from rlgraph.core import PluginError, SpecError
from rlgraph.execution.ray.engine import RayEngine


def test_ray_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PluginError, match=r"engine 'ray' needs Ray .*: pip install 'rlgraph-dist\[ray\]'"):
        RayEngine()


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("here", "it has no port"),
        ("127.0.0.1:1", "nothing accepts connections there"),
        ("ray://127.0.0.1:1", "nothing accepts connections there"),
    ],
)
def test_no_cluster_answers(address, problem):
    with pytest.raises(SpecError, match=rf"engine.address: expected .* given '{address}': {problem}"):
        RayEngine(address=address)


def test_something_else_answers():
    """It accepts connections and then says nothing."""
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SpecError, match=r"engine.address: .* no Ray cluster answered within 0.5 s"):
            RayEngine(address=address, connect_timeout=0.5)
    assert time.monotonic() - began < 5.0


def test_an_address_and_a_size():
    with pytest.raises(SpecError, match=r"engine.num_cpus: expected null beside an address"):
        RayEngine(address="auto", num_cpus=2)
