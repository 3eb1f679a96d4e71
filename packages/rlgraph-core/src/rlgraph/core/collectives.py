"""Groups of learners that add arrays up: what a provider implements, and one for threads of this process."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core.errors import CollectiveError


class Collective(ABC):
    """A learner's place in a group, and how it reaches the others.

    Providers are entry points of ``rlgraph.collectives``. All learners of a group make the same calls in the same
    order, on arrays of equal size and type. A group in which a call failed is unusable.

    Args:
        rank: number of this learner, from 0.
        size: number of learners.
        address: ``host:port`` at which rank 0 can be reached.
        timeout: seconds that a call, and the start, waits for the others.

    Attributes:
        session: changes when a learner joins the others anew: nothing that they agreed on before holds any more.

    Raises:
        CollectiveError: the others did not come, or one was lost.
    """

    session: int = 0

    def __init__(self, rank: int, size: int, address: str, timeout: float):
        self.rank, self.size, self.address, self.timeout = rank, size, address, timeout

    @abstractmethod
    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        """The sum over all learners of a flat, contiguous array; bit-equal on all.

        The array may be overwritten, and the caller may write into the sum.
        """

    @abstractmethod
    def all_gather(self, message: bytes) -> list[bytes]:
        """What every learner gives, by rank; messages may have different lengths."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group; may be called again."""


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
