"""Ranked: the base class of Space, an immutable value with a batch and a time rank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from rlgraph.spaces.ranks import Rank, Ranks, read_ranks

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Ranked"]


class Ranked(ABC):
    """An immutable value with a batch and a time rank; a copy is the object itself."""

    ranks: Ranks

    def _init(self, **values: Any) -> None:
        # __setattr__ refuses, so this is the only way.
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}; make a new Space")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    # -- ranks ---------------------------------------------------------------------------------

    @property
    def batch_rank(self) -> Rank:
        """False, True (unknown size), an int (fixed size) or a name (unknown size, independent of other batches)."""
        return self.ranks.batch

    @property
    def time_rank(self) -> Rank:
        """False, True (unknown size), an int (fixed size) or a name."""
        return self.ranks.time

    @property
    def time_major(self) -> bool:
        """True if the time axis comes first: always with only a time rank, never without a time rank."""
        return self.ranks.time_major

    @property
    def has_batch_rank(self) -> bool:
        return self.ranks.batch is not False

    @property
    def has_time_rank(self) -> bool:
        return self.ranks.time is not False

    @abstractmethod
    def _with_ranks(self, ranks: Ranks) -> Self: ...

    def with_batch_rank(self, rank: Rank = True) -> Self:
        """This Space with another batch rank. A time-major Space stays time-major."""
        return self.with_extra_ranks(rank, self.ranks.time)

    def with_time_rank(self, rank: Rank = True) -> Self:
        """This Space with another time rank."""
        return self.with_extra_ranks(self.ranks.batch, rank)

    def with_extra_ranks(
        self, add_batch_rank: Rank = True, add_time_rank: Rank = True, time_major: bool | None = None
    ) -> Self:
        """This Space with other ranks; `time_major=None` keeps the order of the axes."""
        major = self.ranks.time_major if time_major is None else time_major
        ranks = read_ranks(add_batch_rank, add_time_rank, major)
        return self if repr(ranks) == repr(self.ranks) else self._with_ranks(ranks)

    def without_ranks(self) -> Self:
        """This Space without batch and time rank."""
        return self.with_extra_ranks(False, False)
