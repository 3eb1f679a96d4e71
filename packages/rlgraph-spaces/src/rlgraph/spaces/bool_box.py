"""BoolBox: arrays of booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.spaces.bounds import read_shape
from rlgraph.spaces.ranks import Rank, read_ranks
from rlgraph.spaces.space import BoxSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BoolBox"]


class BoolBox(BoxSpace):
    """Arrays of booleans: two categories, bounds False and True.

    Args:
        shape: without batch and time rank.
        add_batch_rank, add_time_rank: False, True (unknown size), an int (fixed size) or a name.
        time_major: True if the time axis comes first.
    """

    type_name = "bool_box"
    kinds = "b"
    default_dtype = "bool"

    def __init__(
        self,
        shape: Any = (),
        *,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
    ) -> None:
        ranks = read_ranks(add_batch_rank, add_time_rank, time_major)
        self._init(ranks=ranks, dtype="bool", shape=read_shape(shape), low=False, high=True)

    @property
    def num_categories(self) -> int:
        return 2

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(rng.integers(0, 2, size=shape)).astype(np.bool_)

    def _explain_values(self, array: NDArray[Any]) -> None:
        return None
