"""Waits for Ray within limits, and notices a cluster that is lost: Ray itself would wait for minutes, or for ever."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, TypeVar

from rlgraph.core.addresses import answers
from rlgraph.core.background import in_background
from rlgraph.execution.engine import ClusterLost

_T = TypeVar("_T")
_RAYLET = "the raylet of this machine"
#: Seconds between two looks at the cluster, until a process has accepted a connection, and that any call may take.
_INTERVAL, _CONNECT, _SECONDS = 1.0, 5.0, 60.0
#: Seconds in which a head may come back: one that keeps its state elsewhere is started again.
_PATIENCE = 5.0


@dataclass
class _Process:
    """A process that the cluster cannot do without.

    Attributes:
        name: what it is called in messages.
        address: where it listens.
        patience: seconds that it may be away.
        child: the process itself, if this program has started it.
        missed: since when it has been away, by `time.monotonic`; None: it was there.
    """

    name: str
    address: str
    patience: float
    child: Any = None
    missed: float | None = None

    def is_lost(self) -> bool:
        """Whether it has ended, or nothing has listened there for longer than it may be away."""
        if self.has_ended():
            return True
        if answers(self.address, _CONNECT):
            self.missed = None
            return False
        self.missed = time.monotonic() if self.missed is None else self.missed
        return time.monotonic() - self.missed >= self.patience

    def has_ended(self) -> bool:
        """Whether a child has ended; quick."""
        if self.child is None:
            return False
        import psutil

        try:
            return bool(self.child.status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True


class Watch:
    """The cluster of this program: what waits for it does so here.

    Args:
        ray: the module, connected to a cluster.
        address: of the cluster, where the program was given one.

    Attributes:
        lost: why the cluster is lost; empty while it lives.
        has_store: whether this machine's part lives, with the object store: without it, Ray ends this program as soon
            as it reads a large value, writes one, or gives one back.
    """

    def __init__(self, ray: Any, address: str | None = None):
        self._ray, self.lost, self.has_store, self._looked = ray, "", True, 0.0
        self._looking = threading.Lock()
        self._processes = _processes(ray, address)

    def check(self, is_due: bool = False) -> None:
        """Look whether the cluster is there, at most every second unless this `is_due`.

        Raises:
            ClusterLost: it is not.
        """
        with self._looking:
            if not self.lost and (is_due or time.monotonic() - self._looked >= _INTERVAL):
                self._looked = time.monotonic()
                lost = [each for each in self._processes if each.is_lost()]
                named = " and ".join(f"{each.name} at {each.address}" for each in lost)
                self.lost = named and f"the Ray cluster is lost: {named} has ended or cannot be reached"
                self.has_store = not any(each.name == _RAYLET for each in lost)
                if lost and sys.excepthook.__module__.startswith("ray."):
                    sys.excepthook = sys.__excepthook__  # Ray's tells the head first, and waits for it
        if self.lost:
            raise ClusterLost(self.lost)

    def check_store(self) -> None:
        """Look whether large values can be read and written now.

        Raises:
            ClusterLost: they cannot.
        """
        if self.lost or any(each.has_ended() for each in self._processes):
            self.check(is_due=True)

    def wait(self, references: Sequence[Any], timeout: float) -> list[Any]:
        """At least one of the references whose values are there; empty after `timeout` seconds.

        Raises:
            ClusterLost: the cluster is lost.
        """
        until = time.monotonic() + timeout
        while True:
            self.check()
            left = max(until - time.monotonic(), 0.0)
            done, _ = self._ray.wait([*references], num_returns=1, timeout=min(left, _INTERVAL))
            if done or left <= _INTERVAL:
                return list(done)

    def get(self, reference: Any, timeout: float = _SECONDS) -> Any:
        """The value of a reference.

        Raises:
            ClusterLost: the cluster is lost.
            ray.exceptions.RayError: the value is lost, or does not come.
        """
        until = time.monotonic() + timeout
        while True:
            self.check_store()
            left = max(until - time.monotonic(), 0.0)
            try:
                return self._ray.get(reference, timeout=min(left, _INTERVAL))
            except self._ray.exceptions.GetTimeoutError:
                self.check()
                if left <= _INTERVAL:
                    raise
            except self._ray.exceptions.RayError:
                self.check(is_due=True)
                raise

    def call(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """The result of a function of Ray that has no limit of its own.

        Raises:
            ClusterLost: the cluster is lost, or did not answer.
        """
        self.check()
        self.check_store()
        call = in_background(function, *arguments)
        until = time.monotonic() + _SECONDS
        while not wait([call], _INTERVAL).done:
            self.check()
            if time.monotonic() > until:
                raise ClusterLost(f"the Ray cluster has not answered for {_SECONDS:g} s")
        if call.exception() is not None:
            self.check(is_due=True)
        return call.result()


def within(seconds: float, function: Callable[..., Any], *arguments: Any) -> None:
    """Call a function that ends something, whose errors do not matter, and wait for it for some seconds."""
    wait([in_background(function, *arguments)], seconds)


def _processes(ray: Any, address: str | None) -> list[_Process]:
    """The head of the cluster and this machine's part of it; of a client, the server that it talks to."""
    import psutil

    if ray.util.client.ray.is_connected():
        place = (address or "").removeprefix("ray://")
        return [_Process("the client server", place, _PATIENCE)] if place else []
    context = ray.get_runtime_context()
    own = next(node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
    raylet = f"{own['NodeManagerAddress']}:{own['NodeManagerPort']}"
    child = next((each for each in psutil.Process().children() if each.name() == "raylet"), None)
    return [
        _Process(_RAYLET, raylet, 0.0, child),
        _Process("the head (GCS)", context.gcs_address, _PATIENCE),
    ]
