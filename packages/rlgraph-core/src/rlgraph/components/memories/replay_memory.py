"""Uniform experience replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.memories.argument_checks import number_of
from rlgraph.components.memories.frame_stack import FrameStack
from rlgraph.components.memories.memory import Memory, record_space
from rlgraph.core import graph_fn, rlgraph_api


class ReplayMemory(Memory):
    """A ring of records from which batches are drawn uniformly, with replacement (Lin, 1992; Mnih et al., 2015).

    Args:
        capacity: number of records kept.
        frame_stack: observations are stacks of this number of frames, and each frame is kept once; a number, or a
            mapping with the attributes of `FrameStack`: ``{"size": 4, "axis": 0}``. Drawn records do not change.

    Raises:
        SpecError: capacity below 1, or an invalid `frame_stack`.
        SpaceError: the records are not a `Dict` of numbers with batch rank, or have no such stacks.
    """

    def __init__(self, capacity: int = 1000, frame_stack: Any = None, scope: str = "memory", **kwargs: Any):
        self.frame_stack = FrameStack.from_spec(frame_stack, f"{scope}.frame_stack")
        super().__init__(capacity, scope=scope, **kwargs)

    @rlgraph_api
    def get_records(self, num_records: Any) -> Any:
        """Draw ``num_records`` [] records; a dict of fields [num_records, ...].

        Raises:
            RLGraphError: the memory is empty.
            InputError: a number below 0.
        """
        return self._sample(num_records)

    @graph_fn(host=True, spaces=record_space, shares=())
    def _sample(self, num_records: np.ndarray) -> Any:
        size, number = self.filled(), number_of(num_records, self.scope_path)
        places = (self.rng.random(number) * size).astype(np.int64)
        if oldest := self.oldest():
            places = (places + oldest) % self.capacity
        return self.read(places)
