"""A group of learners in threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core.collectives.collective import Collective
from rlgraph.core.errors import CollectiveError


class MemoryCollective(Collective):
    """Learners in threads of this process, made by `memory_group`: for tests, and to debug a group."""

    def __init__(self, rank: int, size: int, timeout: float, barrier: threading.Barrier, slots: list[Any]):
        super().__init__(rank, size, "memory", timeout)
        self._barrier, self._slots = barrier, slots

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        return np.add.reduce(self._exchange(array.copy()))

    def all_gather(self, message: bytes) -> list[bytes]:
        return self._exchange(message)

    def _exchange(self, value: Any) -> list[Any]:
        self._slots[self.rank] = value
        self._meet()
        values = list(self._slots)
        self._meet()  # before anyone writes again
        return values

    def _meet(self) -> None:
        try:
            self._barrier.wait(self.timeout)
        except threading.BrokenBarrierError:
            raise CollectiveError(
                f"learner {self.rank}: another learner of the group of {self.size} has left or did not come "
                f"within {self.timeout:g} s"
            ) from None

    def close(self) -> None:
        self._barrier.abort()


def memory_group(size: int, timeout: float = 30.0) -> Sequence[MemoryCollective]:
    """A group of `size` learners, one for each thread."""
    barrier, slots = threading.Barrier(size), [None] * size
    return [MemoryCollective(rank, size, timeout, barrier, slots) for rank in range(size)]
