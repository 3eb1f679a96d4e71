"""Connects to a Ray cluster, or starts one, within a limit of time."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from rlgraph.core import RLGraphError, SpecError, addresses
from rlgraph.execution.engine import ClusterLost
from rlgraph.execution.ray.watch import within
from rlgraph.execution.ray.witness import Witness

#: Seconds in which Ray may shut down, and its processes may end by themselves then.
_SHUT_DOWN, _PATIENCE = 15.0, 1.0


@dataclass
class Connection:
    """The connection of this program to a cluster, which its engines share.

    Attributes:
        address, num_cpus: what it was made with.
        users: engines that are open.
        processes: of a cluster that was started, at its start.
        witness: of a cluster that was started.
        is_abandoned: whether this machine's part of the cluster has ended.
    """

    address: str | None
    num_cpus: int | None
    users: int = 1
    processes: Sequence[Any] = ()
    witness: Witness | None = None
    is_abandoned: bool = False


#: That of this program; None: `connect` has made none.
_connection: Connection | None = None


def connect(ray: Any, address: str | None, num_cpus: int | None, timeout: float) -> Connection | None:
    """Connect this program to a cluster, or use the connection that it has.

    Args:
        ray: the module.
        address: of a running cluster; None: that of ``RAY_ADDRESS``, else one of this machine is started.
        num_cpus: CPUs of one that is started.
        timeout: seconds until a running one has answered.

    Returns:
        What `disconnect` ends; None: the program has called ``ray.init`` itself.

    Raises:
        SpecError: none answers at the address, or it does not go with the other options or the connection there is.
        ClusterLost: the program was connected to a cluster that is lost.
    """
    global _connection
    if _connection is not None and _connection.is_abandoned:
        raise ClusterLost(
            "the Ray cluster that this program was connected to is lost: start the program again"
        )
    if not ray.is_initialized():
        _connect(ray, address or os.environ.get("RAY_ADDRESS"), num_cpus, timeout)
        started = _started(ray)
        raylets = [process.pid for process in started if process.name() == "raylet"]
        _connection = Connection(
            address, num_cpus, processes=started, witness=Witness(raylets[0]) if raylets else None
        )
        return _connection
    known = Connection(None, None) if _connection is None else _connection
    for name, value in (("address", address), ("num_cpus", num_cpus)):
        if value not in (None, getattr(known, name)):
            raise SpecError(
                f"expected null, since this program is connected to a Ray cluster already, given {value!r}",
                path=f"engine.{name}",
            )
    if _connection is not None:
        _connection.users += 1
    return _connection


def disconnect(ray: Any, connection: Connection) -> None:
    """An engine has closed; the last one ends the connection, and the cluster if `connect` started it."""
    global _connection
    connection.users -= 1
    if connection.users == 0 and connection is _connection:
        _connection = None
        if connection.witness is not None:
            connection.witness.dismiss()
        _shut_down(ray, connection.processes)


def abandon(connection: Connection) -> None:
    """End what is left of a cluster that was started and whose raylet has ended; Ray stays connected to it.

    Its own end would end this program, since the object store is gone.
    """
    connection.is_abandoned = True
    _kill(connection.processes)


def _connect(ray: Any, address: str | None, num_cpus: int | None, timeout: float) -> None:
    if address is not None:
        if num_cpus is not None:
            raise SpecError(
                "expected null beside an address, since no cluster is started", path="engine.num_cpus"
            )
        if problem := _problem_at(address, timeout):
            raise _no_cluster(address, problem)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    with _own_handlers():
        if address is None:
            _start(ray, num_cpus=num_cpus, include_dashboard=False, **options)
            return
        try:
            ray.init(address=address, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _no_cluster(address, str(error)) from None


def _start(ray: Any, **options: Any) -> None:
    """Start a cluster of this machine that other machines cannot reach.

    Without ``"local"``, Ray would connect to a cluster that it finds here, whoever started that. It listens on the
    loopback interface alone where clusters of several machines are switched off; processes of other users need the
    token that it asks for by default.
    """
    from ray._private import ray_constants
    from ray.util import get_node_ip_address

    before, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        ray.init(address="local", **options)
        address = get_node_ip_address()
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
    if not ip_address(address).is_loopback:
        _shut_down(ray)
        raise RLGraphError(
            f"expected a Ray cluster that listens on the loopback interface alone, given one on {address}: start one "
            "by `ray start --head`, and give the address 'auto'"
        )


def _started(ray: Any) -> list[Any]:
    """The processes of a cluster that this program started; children of one that has ended cannot be told any more."""
    import psutil

    folder, started = str(Path(ray.__file__).parent), []
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it ended meanwhile
            if any(folder in part for part in child.cmdline()):
                started += [child, *child.children(recursive=True)]
    return started


def _shut_down(ray: Any, known: Sequence[Any] = ()) -> None:
    """End the cluster of this machine that was started, whose processes at its start are `known`.

    Ray kills those of its processes that are slow to end; what these have started would stay for a minute.
    """
    import psutil

    started = {*known, *_started(ray)}
    within(_SHUT_DOWN, partial(ray.shutdown, wait_for_processes=True))
    _, left = psutil.wait_procs(started, timeout=_PATIENCE)
    _kill(left)


def _kill(processes: Iterable[Any]) -> None:
    import psutil

    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _no_cluster(address: str, problem: str) -> SpecError:
    return SpecError(
        f"expected the address of a running Ray cluster, 'auto', 'host:port' or 'ray://host:port', given {address!r}: "
        f"{problem}. Start one by `ray start --head`, set RAY_AUTH_MODE=token if it asks for a token, or leave the "
        "address out",
        path="engine.address",
    )


def _problem_at(address: str, timeout: float) -> str:
    """Why no cluster answers at an address; empty if one does. Ray itself waits for minutes and ends the program."""
    if address != "auto":
        place = address.removeprefix("ray://")
        _, sign, port = place.rpartition(":")
        if not sign or not port.isdigit():
            return "it has no port"
        try:
            addresses.connect(place, timeout).close()
        except (OSError, OverflowError) as error:
            return f"nothing accepts connections there ({error})"
        if place != address:  # a client has a limit of its own
            return ""
    # As this program will: with the token, where Ray takes that by itself.
    command = [
        sys.executable,
        "-c",
        "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)",
        address,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"no Ray cluster answered within {timeout:g} s"
    lines = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else lines[-1] if lines else "a connection for a trial failed"


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Keep the handlers of signals that this program has set; Ray's would end it without a checkpoint."""
    with ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if callable(handler := signal.getsignal(number)):
                    after.callback(signal.signal, number, handler)
        yield
