"""A first-in, first-out queue of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.memories.handover import Handover
from rlgraph.components.memories.memory import Memory, record_space
from rlgraph.core import InputError, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class FIFOQueue(Memory, Handover):
    """A queue between threads: inserts wait for room, reads wait for records.

    It connects actors with a learner in IMPALA (Espeholt et al., 2018, section 3, https://arxiv.org/abs/1802.01561),
    where a record is a whole fragment (see `Memory`).

    A call inserts or removes all its records at once, so each thread receives consecutive records. Waiting threads are
    not served in order.

    Args:
        capacity: the largest number of records.
        timeout: seconds to wait; None: without limit; 0: not at all.

    Raises:
        SpecError: capacity below 1; a timeout below 0 or not finite.
        SpaceError: the records are not a `Dict` of numbers with batch rank, or fragments of unknown length.
    """

    def __init__(
        self, capacity: int = 1000, timeout: float | None = None, scope: str = "fifo-queue", **kwargs: Any
    ):
        super().__init__(capacity, scope=scope, timeout=timeout, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        Memory.create_variables(self, input_spaces, action_space)
        Handover.create_variables(self, input_spaces, action_space)

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Add ``records`` (a dict of fields [B, ...]); wait until all fit.

        Raises:
            InputError: more records than the capacity.
            QueueClosedError: it is closed.
            QueueTimeoutError: the records did not fit in time.
        """
        return self._insert(records)

    @rlgraph_api
    def get_records(self, num_records: Any) -> Any:
        """Take out the first ``num_records`` [] records; wait until they are present: a dict of fields [N, ...].

        Raises:
            InputError: more records than the capacity.
            QueueClosedError: it is closed and holds fewer.
            QueueTimeoutError: they did not come in time.
        """
        return self._get(num_records)

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        count, cursor = _length(records), self.cursor
        self._check_fits(count)
        self._wait_until(lambda: cursor[1] + count <= self.capacity, True, f"room for {count} records")  # type: ignore[index]
        self.write(records)
        self._wake_others()

    @graph_fn(host=True, spaces=record_space, shares=())
    def _get(self, num_records: np.ndarray) -> Any:
        number, cursor = int(num_records), self.cursor
        self._check_fits(number)
        self._wait_until(lambda: cursor[1] >= number, False, f"{number} records")  # type: ignore[index]
        index, size = cursor.tolist()  # type: ignore[attr-defined]
        taken = self.read((index - size + np.arange(number)) % self.capacity)
        cursor[1] = size - number  # type: ignore[index]
        self._wake_others()
        return taken

    def _check_fits(self, number: int) -> None:
        if not 0 <= number <= self.capacity:
            raise InputError(
                f"{self.scope_path}: expected 0 to {self.capacity} records at a time, its capacity, given {number}"
            )


def _length(records: Any) -> int:
    """The number of records, from their first field."""
    while isinstance(records, dict | tuple):
        records = next(iter(records.values())) if isinstance(records, dict) else records[0]
    return len(records)
