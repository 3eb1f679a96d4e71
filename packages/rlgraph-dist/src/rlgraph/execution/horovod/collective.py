"""Groups of learners over Horovod, whichever of its halves is built."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from rlgraph.core import CollectiveError
from rlgraph.core.addresses import host_and_port
from rlgraph.core.collectives import GroupCollective
from rlgraph.execution.horovod.frameworks import HALVES, Framework, Sum

_BUILD = "python -m rlgraph.execution.horovod.build"
#: Set by ``horovodrun``.
_LAUNCHED = "HOROVOD_RANK"


class HorovodCollective(GroupCollective):
    """Adds arrays up with Horovod on Gloo, whichever backend computes them.

    ``horovodrun`` is not needed: without it learner 0 has the server where the processes meet. One group per process.

    Args:
        rank, size, address, timeout: see `rlgraph.core.Collective`.
        framework: the half of Horovod that is used, ``torch`` or ``tensorflow``; None: the first of them that is built.
    """

    def __init__(
        self, rank: int, size: int, address: str, timeout: float, framework: Framework | None = None
    ):
        self._horovod, self._sum = _load(framework)
        self._server: Any = None
        #: What is said in the environment.
        self._said: dict[str, str] = {}
        super().__init__(rank, size, address, timeout)

    def greeting(self) -> bytes:
        """The port at which Horovod's processes meet."""
        if self.rank or _LAUNCHED in os.environ:
            return b""
        from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

        host, _ = host_and_port(self.address)
        self._server = RendezvousHTTPServer((host, 0), RendezvousHandler, 0)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return str(self._server.server_address[1]).encode()

    def start(self) -> None:
        if self.membership.greetings[0]:
            self._meet(int(self.membership.greetings[0]))
        self._horovod.init()
        self.sum(np.ones(1, np.float32))

    def _meet(self, port: int) -> None:
        """Say what ``horovodrun`` would say, in the environment that Horovod reads."""
        from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts

        hosts = self.membership.hosts
        slots = {host: hosts.count(host) for host in hosts}
        plan = get_host_assignments(parse_hosts(",".join(f"{h}:{n}" for h, n in slots.items())), self.size)
        place = plan[self.rank]
        if [each.hostname for each in plan] != hosts:
            raise CollectiveError(f"expected learners of one machine in a row, given {', '.join(hosts)}")
        if self._server is not None:
            self._server.init(plan)
        self.membership.gather(b"")  # the server knows the plan before anybody asks
        numbers = {
            "RANK": place.rank,
            "SIZE": place.size,
            "LOCAL_RANK": place.local_rank,
            "LOCAL_SIZE": place.local_size,
            "CROSS_RANK": place.cross_rank,
            "CROSS_SIZE": place.cross_size,
            "HOSTNAME": place.hostname,
            "GLOO_RENDEZVOUS_ADDR": hosts[0],
            "GLOO_RENDEZVOUS_PORT": port,
            "CONTROLLER": "gloo",
            "CPU_OPERATIONS": "gloo",
            "GLOO_TIMEOUT_SECONDS": max(int(self.timeout), 1),
            # Milliseconds between two looks for calls: each waits for half of it.
            "CYCLE_TIME": 0.1,
        }
        self._said = {f"HOROVOD_{name}": str(value) for name, value in numbers.items()}
        if hosts[self.rank].startswith("127."):
            self._said["HOROVOD_GLOO_IFACE"] = "lo"
        os.environ.update(self._said)

    def sum(self, array: np.ndarray) -> np.ndarray:
        return self._sum(array)

    def abort(self) -> None:
        self._horovod.shutdown()  # calls that wait fail

    def stop(self) -> None:
        for name in self._said:
            os.environ.pop(name, None)
        self._horovod.shutdown()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def _load(framework: str | None) -> tuple[Any, Sum]:
    """The half of Horovod that is used.

    Raises:
        CollectiveError: Horovod is not installed, or was built without the framework or for another version of it.
    """
    faults = []
    for name in (framework,) if framework else HALVES:
        if name not in HALVES:
            raise CollectiveError(f"expected the framework {' or '.join(HALVES)}, given {name!r}")
        try:
            return HALVES[name]()
        except (
            Exception
        ) as error:  # an ImportError, or what a library says that was built for another version
            faults.append(
                f"{name}: {str(error).strip().splitlines()[0] if str(error) else type(error).__name__}"
            )
    raise CollectiveError(
        f"Horovod cannot be used here ({'; '.join(faults)}). Build it for the frameworks that are installed: {_BUILD}"
    )
