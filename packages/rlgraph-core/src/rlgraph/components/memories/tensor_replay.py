"""Uniform experience replay inside of programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of, map_nested
from rlgraph.core.ops.dims import RankSize
from rlgraph.spaces import Dict, IntBox, Space, SpaceError


class TensorReplay(Component):
    """A ring of records in tensor variables, from which batches are drawn uniformly, with replacement.

    It does what `ReplayMemory` does, without leaving the program: for training with environments that are components.

    Args:
        capacity: number of records kept.

    Raises:
        SpecError: capacity below 1.
        SpaceError: the records are not a `Dict` with batch rank.
    """

    ranks_may_differ = False

    def __init__(self, capacity: int = 1000, scope: str = "memory", **kwargs: Any):
        self.capacity = check_whole(capacity, f"{scope}.capacity", least=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["records"]
        if not isinstance(space, Dict) or not space.has_batch_rank or space.has_time_rank:
            raise SpaceError(f"{self.scope_path}: records must be a Dict with batch rank, given {space!r}")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        rows = input_spaces["records"].with_batch_rank(self.capacity)
        self.rows = self.get_variables("rows", rows, trainable=False, alone=True)
        #: The number of records inserted so far, [].
        self.inserted = self.get_variable("inserted", IntBox(), trainable=False)

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Add ``records`` (a dict of fields [B, ...]); the oldest are overwritten when the ring is full."""
        return self._insert(records)

    @rlgraph_api
    def get_records(self, number: int) -> Any:
        """Draw records; a dict of fields [number, ...]. The number is fixed at the build."""
        return self._drawn(number)

    @graph_fn(returns=0)
    def _insert(self, ops: Any, records: Any) -> None:
        count = ops.shape(leaves_of(records)[0])[0]
        numbers = ops.arange(count)
        places = (ops.read(self.inserted) + numbers) % self.capacity
        map_nested(lambda rows, values: ops.scatter_update(rows, places, values), self.rows, records)
        ops.assign_add(self.inserted, ops.sum(ops.ones_like(numbers)))

    @graph_fn
    def _drawn(self, ops: Any, number: int) -> Any:
        inserted = ops.read(self.inserted)
        held = ops.minimum(inserted, self.capacity)
        drawn = ops.random_uniform((RankSize(number),)) * ops.astype(held, "float")
        # Rounding may reach the size itself. The oldest record is number 0, as in `ReplayMemory`.
        places = ops.minimum(ops.astype(drawn, "int64"), held - 1) + (inserted - held)
        places = places % self.capacity
        return map_nested(lambda rows: ops.take(rows, places), self.rows)
