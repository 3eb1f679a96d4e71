"""What a learner and its workers share on the learner's TensorFlow server: queues, and the weights in a variable."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rlgraph.core.tensorflow_log import startup_log_hidden

with startup_log_hidden():
    import tensorflow as tf

from rlgraph.core import SpecError
from rlgraph.core.addresses import host_and_port
from rlgraph.core.specs.connections import report_open_ports
from rlgraph.execution.distributed_tf.cluster import listen

v1 = tf.compat.v1

#: Version of TensorFlow: programs of different ones do not understand each other for certain.
VERSION: str = tf.__version__
#: A queue or variable is closed or gone; nothing came within the limit; the server is gone.
Closed = (
    tf.errors.OutOfRangeError,
    tf.errors.CancelledError,
    tf.errors.NotFoundError,
    tf.errors.FailedPreconditionError,
)
TimedOut: type[Exception] = tf.errors.DeadlineExceededError
Gone = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.InternalError, tf.errors.UnknownError)

_DEVICE = "/job:learner/task:0/device:CPU:0"
#: More calls than executors have under way; answers wait for the learner, requests for their worker.
_CAPACITY = 10_000
#: Answers are (call, kind) numbers, facts and body; requests a message, and whether the weights are wanted.
_ANSWER, _REQUEST = (tf.int64, tf.uint8, tf.uint8), (tf.uint8, tf.bool)


@cache
def server(address: str) -> Any:
    """The server of this process at an address. TensorFlow cannot stop a server, so that it is used again.

    Raises:
        SpecError: the address is in use.
    """
    listen(address, "engine.cluster.learner[0]").close()
    # Agents take the GPUs.
    configuration = v1.ConfigProto(
        device_count={"GPU": 0}, inter_op_parallelism_threads=2, intra_op_parallelism_threads=1
    )
    try:
        started = tf.distribute.Server({"learner": [address]}, "learner", 0, config=configuration)
    except tf.errors.OpError as error:
        raise SpecError(
            f"no server of TensorFlow can be started at {address}: {error}", path="engine.cluster.learner[0]"
        ) from None
    report_open_ports("TensorFlow's server", host_and_port(address)[1])
    return started


class _Board:
    """A session on the learner's server.

    Args:
        target: of the server.
        timeout: seconds after which an operation fails with `TimedOut`; None: none does.
    """

    def __init__(self, target: str, timeout: float | None = None):
        self._graph = tf.Graph()
        milliseconds = 0 if timeout is None else int(1000 * timeout)
        self.session = v1.Session(target, self._graph, v1.ConfigProto(operation_timeout_in_ms=milliseconds))

    def close(self) -> None:
        """End the session."""
        self.session.close()

    def _callable(self, build: Callable[..., Any], *dtypes: Any) -> Callable[..., Any]:
        """A function that runs what `build` makes of placeholders for arrays of these types."""
        with self._graph.as_default(), tf.device(_DEVICE):
            given = [v1.placeholder(dtype) for dtype in dtypes]
            fetched = build(*given)
        run: Callable[..., Any] = self.session.make_callable(fetched, given)
        return run


def _queue(dtypes: Any, name: str) -> Any:
    return tf.queue.FIFOQueue(_CAPACITY, dtypes, shared_name=name)


def _weights(key: str) -> Any:
    return tf.raw_ops.VarHandleOp(dtype=tf.uint8, shape=None, shared_name=f"{key}/weights")


def _tickets(number: int) -> Any:
    """The queue in which worker `number` finds what it is to be."""
    return _queue([tf.uint8], f"tickets-{number}")


class LearnerBoard(_Board):
    """The learner's side.

    Args:
        target: of the server.
        key: distinguishes this from what other engines of the process put there.
    """

    def __init__(self, target: str, key: str):
        super().__init__(target)
        self._key = key
        self._assign = self._callable(
            lambda value: tf.raw_ops.AssignVariableOp(resource=_weights(key), value=value), tf.uint8
        )
        self.share(b"")
        #: Waits for an answer: (numbers, facts, body).
        self.take: Callable[[], Any] = self._callable(lambda: _queue(_ANSWER, f"{key}/answers").dequeue())
        #: Ends who waits for one.
        self.close_answers: Callable[[], Any] = self._callable(
            lambda: _queue(_ANSWER, f"{key}/answers").close(True)
        )

    def share(self, value: bytes) -> None:
        """Write the weights."""
        self._assign(np.frombuffer(value, np.uint8))

    def requests(self, number: int) -> tuple[Callable[[bytes, bool], Any], Callable[[], Any]]:
        """Functions that ask object `number`, and that close its queue."""
        enqueue = self._callable(lambda *given: self._requests(number).enqueue(given), *_REQUEST)
        close = self._callable(lambda: self._requests(number).close(True))
        return lambda message, wants: enqueue(np.frombuffer(message, np.uint8), np.array(wants)), close

    def _requests(self, number: int) -> Any:
        return _queue(_REQUEST, f"{self._key}/requests-{number}")

    def give(self, number: int, ticket: bytes) -> None:
        """Give worker `number` a ticket."""
        run = self._callable(lambda given: _tickets(number).enqueue([given]), tf.uint8)
        run(np.frombuffer(ticket, np.uint8))

    def take_back(self, number: int) -> None:
        """Take tickets back that nobody came for."""
        size = self._callable(lambda: _tickets(number).size())
        dequeue = self._callable(lambda: _tickets(number).dequeue())
        for _ in range(int(size())):
            dequeue()


class WorkerBoard(_Board):
    """A worker's side: a session on the learner's server; it has no server of its own.

    Args:
        address: of the learner.
        timeout: seconds after which an operation fails with `TimedOut`.
    """

    def __init__(self, address: str, timeout: float):
        super().__init__(f"grpc://{address}", timeout)

    def ticket(self, number: int) -> Callable[[], bytes]:
        """A function that waits for a ticket of worker `number`."""
        dequeue = self._callable(lambda: _tickets(number).dequeue())
        return lambda: dequeue().tobytes()

    def exchange(self, key: str, number: int) -> tuple[Callable[[], Any], Callable[..., Any]]:
        """Functions of object `number` that wait for its next request: at once, and after an answer was given.

        A request is its message, and the present weights if it wants them. Answer, request and weights are one call.
        """

        def request() -> Any:
            message, wants = _queue(_REQUEST, f"{key}/requests-{number}").dequeue()
            return [message, tf.cond(wants, lambda: _read(key), lambda: tf.zeros([0], tf.uint8))]

        def exchange(*answer: Any) -> Any:
            with tf.control_dependencies([_queue(_ANSWER, f"{key}/answers").enqueue(answer)]):
                return request()

        return self._callable(request), self._callable(exchange, *_ANSWER)


def _read(key: str) -> Any:
    return tf.raw_ops.ReadVariableOp(resource=_weights(key), dtype=tf.uint8)
