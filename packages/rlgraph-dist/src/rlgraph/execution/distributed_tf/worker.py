"""Workers: programs that do what a learner asks for, in sessions on its server."""

from __future__ import annotations

import json
import logging
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from rlgraph.core import RLGraphError, SpecError
from rlgraph.core.addresses import answers
from rlgraph.core.background import in_background
from rlgraph.execution.distributed_tf.cluster import Cluster, listen
from rlgraph.execution.distributed_tf.imports import import_server_queues
from rlgraph.execution.engine import failure
from rlgraph.execution.remote.host import Host
from rlgraph.experience.messages import unpack_message

_log = logging.getLogger(__name__)

#: Seconds after which an operation that waits looks whether the learner is still there.
PATIENCE = 5.0
#: Kinds of answers.
RESULT, FAULT = 0, 1


def serve(cluster: Any, task_index: int, connect_timeout: float = 60.0) -> None:
    """Work for the learner of a cluster until its training has ended. Ctrl-C ends the program.

    A learner that ends otherwise is waited for: it may resume its run.

    Args:
        cluster: see `Cluster.from_spec`.
        task_index: of this worker.
        connect_timeout: seconds until the learner is there.

    Raises:
        SpecError: the document is wrong, or the worker's address is in use.
        RLGraphError: the learner did not come in time.
        PluginError: TensorFlow is not installed.
    """
    found = Cluster.from_spec(cluster)
    own = found.worker(task_index)
    with _listening(own, f"cluster.{found.job}[{task_index}]"), _ended_by_ctrl_c():
        while not work(found.learner, task_index, connect_timeout):
            pass


def work(learner: str, number: int, connect_timeout: float) -> bool:
    """Do what the learner at an address asks worker `number` for; whether training has ended, else it is gone.

    Raises:
        RLGraphError: it did not come in time.
    """
    board = import_server_queues()
    _await(learner, number, connect_timeout)
    session = None
    try:
        session = _session(learner)
        next_ticket = session.ticket(number)
        while header_of(ticket := _patiently(next_ticket, learner))["number"] >= 0:
            _be(session, ticket, learner)
        return True
    except (*board.Gone, *board.Closed, board.TimedOut):
        # Said now: closing a session of a server that is gone takes as long as any other operation.
        _log.warning("worker %s: the learner at %s is gone", number, learner)
        return False
    finally:
        if session is not None:
            with suppress(*board.Gone, *board.Closed, board.TimedOut):
                session.close()


def header_of(ticket: bytes) -> dict[str, Any]:
    """What a ticket says: which object, on which board, its name in messages; a negative number ends the worker."""
    return unpack_message(ticket)[0]


def _be(session: Any, ticket: bytes, learner: str) -> None:
    """Be the object of a ticket, until it is given up."""
    board = import_server_queues()
    header, arrays = unpack_message(ticket)
    request, exchange = session.exchange(header["key"], header["number"])
    host, name = Host(arrays["make"].tobytes()), str(header["name"])
    try:
        message, weights = _patiently(request, learner)
        while True:
            answer = _answer(host, name, header["tensorflow"], message, weights)
            try:
                message, weights = exchange(*answer)
            except board.TimedOut:  # the answer is there, no request is
                _check_is_there(learner)
                message, weights = _patiently(request, learner)
    except board.Closed:
        return
    finally:
        host.terminate()


def _answer(
    host: Host, name: str, tensorflow: str, message: np.ndarray, weights: np.ndarray
) -> list[np.ndarray]:
    """Numbers, facts and body of the answer to a request."""
    header, arrays = unpack_message(message.data)
    arguments = [
        (weights if i in header["weights"] else arrays[str(i)]).data for i in range(header["arguments"])
    ]
    kind: int = RESULT
    try:
        _check_version(tensorflow)
        facts, body = host.call(header["method"], *arguments)
    except Exception as error:
        fault = failure(name, error, traceback.format_exc())
        told = {"type": type(fault).__name__, "text": str(fault), "log": fault.log}
        kind, facts, body = FAULT, json.dumps(told).encode(), b""
    return [np.array([header["call"], kind]), np.frombuffer(facts, np.uint8), np.frombuffer(body, np.uint8)]


def _check_version(expected: str) -> None:
    if (given := import_server_queues().VERSION) != expected:
        raise SpecError(
            f"expected TensorFlow {expected}, which the learner has, given {given} in this process: pip install "
            f"tensorflow=={expected} on every machine"
        )


def _patiently(operation: Callable[[], Any], learner: str) -> Any:
    """What `operation` returns, however long it takes, while the learner is there."""
    board = import_server_queues()
    while True:
        try:
            return operation()
        except board.TimedOut:
            _check_is_there(learner)


def _session(learner: str) -> Any:
    """A session on the learner's server. TensorFlow sets no limit to its start, so that a thread waits for it."""
    board = import_server_queues()
    made = in_background(board.WorkerBoard, learner, PATIENCE)
    while not wait([made], PATIENCE).done:
        _check_is_there(learner)
    return made.result()


def _check_is_there(learner: str) -> None:
    if not answers(learner, PATIENCE):
        raise import_server_queues().Gone[0](None, None, f"nothing answers at {learner}")


def _await(learner: str, number: int, timeout: float) -> None:
    until = time.monotonic() + timeout
    while not answers(learner, max(until - time.monotonic(), 0.1)):
        if time.monotonic() > until:
            raise RLGraphError(
                f"worker {number}: no learner came to {learner} within {timeout:g} s: start it there, or allow more "
                "time by connect_timeout"
            )
        time.sleep(0.1)


@contextmanager
def _listening(address: str, where: str) -> Iterator[None]:
    """Accept connections inside, by which the learner sees that this worker is there."""
    with listen(address, where) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        try:
            yield
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)  # else the thread keeps it open


def _accept(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            server.accept()[0].close()


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Ctrl-C ends the program inside: Python would wait for TensorFlow, and there is nothing to save."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
