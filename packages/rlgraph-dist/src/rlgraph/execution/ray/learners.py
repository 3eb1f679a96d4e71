"""Learners of a group as actors of Ray."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

from rlgraph.core import PluginError
from rlgraph.core.addresses import free_address
from rlgraph.core.errors import first_line
from rlgraph.execution.ray.cluster import connect, disconnect
from rlgraph.execution.ray.watch import within
from rlgraph.execution.remote.host import packed
from rlgraph.execution.remote.learners import place_of, run

#: Seconds that learners have to end by themselves, and until a cluster has answered.
_GRACE, _CONNECT = 5.0, 20.0


class RayLauncher:
    """Starts the learners 1, 2 ... of a group on Ray, each with one CPU; learner 0 is this program.

    The cluster is the one that this program is connected to, that of ``RAY_ADDRESS``, or else one of this machine.
    """

    def __init__(self) -> None:
        try:
            import ray
        except ImportError as error:
            raise PluginError(
                f"launcher 'ray' needs Ray ({error}): pip install 'rlgraph-dist[ray]'"
            ) from None
        self._ray: Any = ray
        self.secret = secrets.token_hex(32)
        self._connection = connect(ray, None, None, _CONNECT)
        self._learners: list[Any] = []
        self._runs: list[Any] = []

    def start(self, make: Callable[[], Any], size: int) -> str:
        """See `rlgraph.execution.remote.learners.ProcessLauncher`."""
        message = packed(make, "agent")
        nodes = self._ray.nodes()
        address = free_address("127.0.0.1" if len(nodes) == 1 else self._ray.util.get_node_ip_address())
        kind = self._ray.remote(_RayLearner)
        for rank in range(1, size):
            learner = kind.options(num_cpus=1, max_restarts=0).remote()
            self._learners.append(learner)
            self._runs.append(learner.run.remote(message, place_of(rank, size, address, self.secret)))
        return address

    def stop(self) -> str:
        """End all learners; returns how those have ended that failed."""
        self._ray.wait(self._runs, num_returns=len(self._runs), timeout=_GRACE)
        said = []
        for rank, (learner, done) in enumerate(zip(self._learners, self._runs, strict=True), 1):
            try:
                status = self._ray.get(done, timeout=0.1)
            except Exception as error:
                status = first_line(error)
            if status:
                said.append(f"learner {rank} ended with status {status}.")
            within(_GRACE, self._ray.kill, learner)
        if self._connection is not None:
            disconnect(self._ray, self._connection)
        return "\n".join(said)


class _RayLearner:
    """The process of a learner."""

    def run(self, message: bytes, place: dict[str, str]) -> int:
        os.environ.update(place)
        return run(message)
