"""Splits a batch into equal shards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.common.batch_checks import check_rows
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class BatchSplitter(Component):
    """Splits the first ``num_shards * shard_size`` rows of a batch into shards and drops the rest.

    Args:
        num_shards: number of shards.
        shard_size: rows of each.

    Raises:
        SpecError: a number below 1.
        SpaceError: the inputs have no batch rank, or a time rank ahead of it.
    """

    def __init__(self, num_shards: int, shard_size: int, scope: str = "batch-splitter", **kwargs: Any):
        self.num_shards = check_whole(num_shards, f"{scope}.num_shards", least=1, most=MAX_PARTS)
        self.shard_size = check_whole(shard_size, f"{scope}.shard_size", least=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_rows(input_spaces["inputs"], self.scope_path)

    @rlgraph_api
    def split_batch(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, or a container of such, ``->`` a tuple of `num_shards` shards ``[shard_size, ...]``.

        Raises:
            IndexError: the batch has fewer rows (compiled programs of TensorFlow repeat the last row instead).
        """
        return tuple(self._shard(inputs, number) for number in range(self.num_shards))

    @graph_fn(flatten_ops={"inputs"}, split_ops=True)
    def _shard(self, ops: Any, inputs: Any, number: int) -> Any:
        rows = ops.arange(number * self.shard_size, (number + 1) * self.shard_size)
        return ops.take(inputs, rows)
