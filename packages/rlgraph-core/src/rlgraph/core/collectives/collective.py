"""What a provider of sums over a group of learners implements."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


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
        local_rank: number of this learner among those of its machine; `rank` where nothing else is known.
        session: changes when a learner joins the others anew: nothing that they agreed on before holds any more.

    Raises:
        CollectiveError: the others did not come, or one was lost.
    """

    session: int = 0

    def __init__(self, rank: int, size: int, address: str, timeout: float):
        self.rank, self.size, self.address, self.timeout = rank, size, address, timeout
        self.local_rank = rank

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
