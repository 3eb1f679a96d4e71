"""IMPALA on CartPole-v1, written by hand on distributed TensorFlow: one server with a queue of rollouts and a variable
of weights. Samplers act on NumPy, the process with the server learns on PyTorch.

Nothing is checked, and nothing survives the death of a sampler; sizes and options are fixed. A rollout is one array of
bytes: queues of ten typed arrays take half as long again.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from queue import SimpleQueue
from typing import Any

import numpy as np
import tensorflow as tf
from by_hand.on_ray import IMPALA_ROLLOUTS, IMPALA_STEPS, cut, joined
from by_hand.sampler import NUM_ENVIRONMENTS, STATE_SIZE, Rollout, Sampler, side_by_side

v1 = tf.compat.v1
#: Rollouts that wait in the queue.
CAPACITY = 4
T, N = IMPALA_STEPS, NUM_ENVIRONMENTS
#: Fields of a rollout that are always as large.
FIXED: list[tuple[type, tuple[int, ...]]] = [
    (np.float32, (T + 1, N, STATE_SIZE)),
    (np.int64, (T, N)),
    (np.float32, (T, N)),
    *[(np.bool_, (T, N))] * 3,
    (np.float32, (T, N)),
]


class Graph:
    """The operations on the server, in a session.

    Args:
        target: of the server.
    """

    def __init__(self, target: str):
        with tf.Graph().as_default() as graph, tf.device("/job:learner/task:0/device:CPU:0"):
            queue = tf.queue.FIFOQueue(CAPACITY, [tf.uint8, tf.float32], shared_name="rollouts")
            weights = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=None, shared_name="weights")
            given = [v1.placeholder(tf.uint8, [None]), v1.placeholder(tf.float32, [None])]
            with tf.control_dependencies([queue.enqueue(given)]):
                exchange = tf.raw_ops.ReadVariableOp(resource=weights, dtype=tf.float32)
            assign = tf.raw_ops.AssignVariableOp(resource=weights, value=given[1])
            read = tf.raw_ops.ReadVariableOp(resource=weights, dtype=tf.float32)
            taken = queue.dequeue()
        # Else calls of a server that is gone wait for it.
        session = v1.Session(target, graph, v1.ConfigProto(operation_timeout_in_ms=60_000))
        self.exchange = session.make_callable(exchange, given)
        self.assign = session.make_callable(assign, given[1:])
        self.read = session.make_callable(read)
        self.take = session.make_callable(taken)


class IMPALA:
    """Samplers that never wait for updates; while it learns from two rollouts, a thread takes the next ones."""

    def __init__(self, samplers: int, compile: bool = False):
        from by_hand.impala_torch import Learner

        with socket.create_server(("127.0.0.1", 0)) as probe:
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        configuration = v1.ConfigProto(device_count={"GPU": 0}, intra_op_parallelism_threads=1)
        self._server = tf.distribute.Server({"learner": [address]}, "learner", 0, config=configuration)
        self._learner = Learner(T, IMPALA_ROLLOUTS * N, compile)
        self._graph, self.returns = Graph(self._server.target), list[float]()
        self._graph.assign(joined(self._learner.policy))
        self._taken: SimpleQueue[Any] = SimpleQueue()
        #: Keeps the staging thread from running ahead.
        self._room = threading.Semaphore(CAPACITY)
        command = [
            sys.executable,
            __file__,
            f"grpc://{address}",
        ]  # PYTHONPATH has the folder of all benchmarks
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._samplers = [
            subprocess.Popen([*command, str(i + 1)], env=environment, stdin=subprocess.PIPE)
            for i in range(samplers)
        ]
        threading.Thread(target=self._stage, daemon=True).start()

    def _stage(self) -> None:
        while True:
            self._room.acquire()
            self._taken.put(self._graph.take())

    def learn(self, steps: int) -> None:
        for _ in range(-(-steps // (T * N * IMPALA_ROLLOUTS))):
            rollouts = []
            for _ in range(IMPALA_ROLLOUTS):
                packed, returns = self._taken.get()
                self._room.release()
                rollouts.append(unpacked(packed))
                self.returns += returns.tolist()
            self._learner.learn(side_by_side(rollouts))
            self._graph.assign(joined(self._learner.policy))


def packed(rollout: Rollout) -> np.ndarray:
    """The bytes of a rollout."""
    arrays = [*rollout[:6], rollout.log_probs, np.array(rollout.truncated), rollout.reached]
    return np.concatenate([array.reshape(-1).view(np.uint8) for array in arrays])


def unpacked(given: np.ndarray) -> Rollout:
    """The inverse of `packed`."""
    fields, at = [], 0
    for dtype, shape in FIXED:
        end = at + int(np.prod(shape)) * np.dtype(dtype).itemsize
        fields.append(given[at:end].view(dtype).reshape(shape))
        at = end
    ends = (len(given) - at) // (2 * 8 + STATE_SIZE * 4)
    truncated = given[at : at + ends * 16].copy().view(np.int64).reshape(2, ends)
    reached = given[at + ends * 16 :].copy().view(np.float32).reshape(ends, STATE_SIZE)
    *steps, log_probs = fields
    return Rollout(*steps, (truncated[0], truncated[1]), reached, log_probs)


def sample(target: str, number: int) -> None:
    """The program of a sampler."""
    threading.Thread(target=_end_with_the_learner, daemon=True).start()
    sampler, graph = Sampler(T, "auto", number, keeps_log_probs=True), Graph(target)
    weights, told = graph.read(), 0
    while True:
        rollout = packed(sampler.collect(cut(weights)))
        weights = graph.exchange(rollout, np.array(sampler.returns[told:], np.float32))
        told = len(sampler.returns)


def _end_with_the_learner() -> None:
    """End this process when the one that started it is gone: a session would wait a minute for its server."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    sample(sys.argv[1], int(sys.argv[2]))
