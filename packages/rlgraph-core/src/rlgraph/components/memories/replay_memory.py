"""Uniform experience replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.memories.memory import Memory, record_space
from rlgraph.core import graph_fn, rlgraph_api


class ReplayMemory(Memory):
    """A ring of records from which batches are drawn uniformly, with replacement (Lin, 1992; Mnih et al., 2015).

    Args:
        capacity: number of records kept.
        scope: name among its siblings.

    Raises:
        SpecError: capacity below 1.
        SpaceError: the records are no `Dict` with batch rank.
    """

    @rlgraph_api
    def get_records(self, num_records: Any) -> Any:
        """Draw ``num_records`` [] records; a dict of fields [num_records, ...].

        Raises:
            RLGraphError: the memory is empty.
        """
        return self._sample(num_records)

    @graph_fn(host=True, spaces=record_space, shares=())
    def _sample(self, num_records: np.ndarray) -> Any:
        size = self.filled()
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        return self.read((rng.random(int(num_records)) * size).astype(np.int64))
