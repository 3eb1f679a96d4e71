"""Groups of learners over TensorFlow's own collective operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.core.tensorflow_log import startup_log_hidden

with startup_log_hidden():
    import tensorflow as tf
    from tensorflow.core.protobuf import tensorflow_server_pb2
    from tensorflow.python.eager import context

from rlgraph.core import CollectiveError
from rlgraph.core.addresses import free_address, host_and_port
from rlgraph.core.collectives import GroupCollective
from rlgraph.core.specs.connections import check_network, report_open_ports

_LEADER = "/job:worker/replica:0/task:0"
_GROUP = 1


class TensorFlowCollective(GroupCollective):
    """Adds arrays up with TensorFlow's collective operations, whichever backend computes them.

    Sums are made on the CPU, where the arrays are. TensorFlow takes its place in a group when it initializes: join
    before anything else in the process uses it. A process can be in one such group.

    Args:
        rank, size, address, timeout: see `rlgraph.core.Collective`.
        allow_network: True starts TensorFlow's server, which other machines can reach: it listens on all interfaces,
            and has no password.

    Raises:
        SpecError: nobody has allowed the server.
    """

    joins_first = True
    needs_network = True

    def __init__(self, rank: int, size: int, address: str, timeout: float, allow_network: bool = False):
        self._is_allowed = allow_network
        super().__init__(rank, size, address, timeout)

    @classmethod
    def addresses(cls, options: Mapping[str, Any]) -> Sequence[str]:
        """The addresses in its options: none, since what starts the learners says where they meet."""
        return ()

    def greeting(self) -> bytes:
        """The port of this learner's server."""
        if context.context()._initialized:
            raise CollectiveError(
                "TensorFlow is in use in this process already, and takes its place in a group when it starts: join "
                "the group before the first agent is made, or use the collective 'gloo'"
            )
        check_network("execution_spec.collective", is_allowed=self._is_allowed)
        return str(host_and_port(free_address())[1]).encode()

    def start(self) -> None:
        members = zip(self.membership.hosts, self.membership.greetings, strict=True)
        server = tensorflow_server_pb2.ServerDef(job_name="worker", task_index=self.rank, protocol="grpc")
        job = server.cluster.job.add(name="worker")
        for rank, (host, port) in enumerate(members):
            job.tasks[rank] = f"{host}:{int(port)}"
        server.default_session_config.experimental.collective_group_leader = _LEADER
        own = context.context()
        own.configure_collective_ops(_LEADER, device_filters=(f"/job:worker/task:{self.rank}",))
        own.enable_collective_ops(server)
        #: Size and type of an array -> its sum.
        self._sums: dict[tuple[int, np.dtype[Any]], Callable[[tf.Tensor], tf.Tensor]] = {}

    def sum(self, array: np.ndarray) -> np.ndarray:
        if not self._sums:
            # Now at the latest, so that an execution spec could still set threads.
            context.context().ensure_initialized()
            if self.rank == 0:
                report_open_ports("TensorFlow's server", *map(int, self.membership.greetings))
            self.membership.gather(b"")  # all servers are there
        key = (array.size, array.dtype)
        if key not in self._sums:
            self._sums[key] = self._make_sum(*key)
        with tf.device("cpu"):
            return self._sums[key](tf.constant(array)).numpy()

    def _make_sum(self, size: int, dtype: np.dtype[Any]) -> Callable[[tf.Tensor], tf.Tensor]:
        instance = len(self._sums) + 1  # the same on all learners, which make the same calls

        def summed(values: tf.Tensor) -> tf.Tensor:
            return tf.raw_ops.CollectiveReduceV2(
                input=values,
                group_size=self.size,
                group_key=_GROUP,
                instance_key=instance,
                ordering_token=[],
                merge_op="Add",
                final_op="Id",
                communication_hint="ring",
                # With a limit of its own, every call has a thread that sleeps as long. `Membership` ends late calls.
                timeout_seconds=0.0,
            )

        made = tf.function(summed, autograph=False)
        with tf.device("cpu"):
            concrete: Callable[[tf.Tensor], tf.Tensor] = made.get_concrete_function(
                tf.TensorSpec([size], dtype)
            )
        return concrete

    def abort(self) -> None:
        if context.context()._initialized:
            context.context().abort_collective_ops(tf.errors.ABORTED, self.membership.fault)

    def stop(self) -> None:
        self._sums = {}
