"""Ray that is not installed, and addresses at which no cluster answers."""

import socket
import sys
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("ray")

import ray

from rlgraph.core import PluginError, SpecError
from rlgraph.execution.engine import ActorDied, Demand
from rlgraph.execution.ray import watch
from rlgraph.execution.ray.cluster import connect, disconnect
from rlgraph.execution.ray.engine import RayEngine
from rlgraph.execution.ray.placement import Placement, Shares


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


class FakeRay:
    """Ray as far as connections go."""

    __file__ = "/nowhere/ray/__init__.py"

    def __init__(self):
        self.is_there, self.started = False, []

    def is_initialized(self):
        return self.is_there

    def init(self, address, num_cpus=None, **options):
        self.is_there = True
        self.started.append((address, num_cpus))

    def shutdown(self, wait_for_processes):
        self.is_there = False


def test_engines_share_a_cluster_until_the_last_one_closes():
    fake = FakeRay()
    first = connect(fake, None, 2, 1.0)
    assert connect(fake, None, 2, 1.0) is connect(fake, None, None, 1.0) is first
    assert fake.started == [("local", 2)]
    for _ in range(3):
        assert fake.is_there
        disconnect(fake, first)
    assert not fake.is_there
    # What is closed twice, or after the program has ended the cluster itself, ends no other one.
    second = connect(fake, None, None, 1.0)
    fake.is_there = False
    third = connect(fake, None, None, 1.0)
    disconnect(fake, second)
    assert fake.is_there
    disconnect(fake, third)
    assert not fake.is_there


@pytest.mark.parametrize("starts", ["rlgraph", "the program"])
def test_options_of_another_cluster_are_refused(starts):
    fake = FakeRay()
    fake.is_there = starts == "the program"
    connection = connect(fake, None, None, 1.0)
    assert (connection is None) == (starts == "the program")
    for options, name in ((("nowhere:1", None), "address"), ((None, 64), "num_cpus")):
        with pytest.raises(
            SpecError, match=rf"engine\.{name}: expected null, since this program is connected"
        ):
            connect(fake, *options, 1.0)
    assert fake.is_there
    if connection is not None:
        disconnect(fake, connection)


def test_results_that_never_come_have_a_limit(monkeypatch):
    """As those of a node that has left, in the middle of a transfer."""

    def get(reference, timeout=None):
        assert timeout is not None
        raise ray.exceptions.GetTimeoutError("not here")

    engine = RayEngine.__new__(RayEngine)
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(engine, "_ray", ray, raising=False)
    monkeypatch.setattr(watch, "_processes", lambda ray, address: [])
    monkeypatch.setattr(watch, "_INTERVAL", 100.0)
    monkeypatch.setattr(engine, "_watch", watch.Watch(ray), raising=False)
    actor = SimpleNamespace(name="actor 0", output=None)
    monkeypatch.setattr(engine, "_actors", {"a": actor}, raising=False)
    with pytest.raises(ActorDied, match="what an actor sent is lost: GetTimeoutError: not here"):
        engine.fetch("reference")
    with pytest.raises(ActorDied, match="actor 0: GetTimeoutError: not here"):
        engine.result(SimpleNamespace(actor="a", facts="facts", body=None))


def test_a_placement_of_nothing():
    fake = SimpleNamespace(util=SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1"))
    nothing = {"CPU": 0.0, "GPU": 0.0}
    with pytest.raises(SpecError, match=r"engine\.placement: expected null, .* given 'PACK': leave it out"):
        Placement(fake, "PACK", Shares(nothing, nothing, nothing), Demand(2, 0))
