"""Swaps batch and time rank."""

from __future__ import annotations

from typing import Any

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, Space, SpaceError


class Transpose(PreprocessLayer):
    """``[B, T, ...] -> [T, B, ...]`` or back; inputs in the wanted order do not change.

    Args:
        output_is_time_major: the time rank comes first; False: the batch rank.

    Raises:
        SpaceError: the inputs lack batch or time rank.
    """

    def __init__(self, output_is_time_major: bool = True, scope: str = "transpose", **kwargs: Any):
        self.output_is_time_major = output_is_time_major
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        if not (box.has_batch_rank and box.has_time_rank):
            raise SpaceError(
                f"{self.scope_path}: expected a Space with batch rank and time rank, given {box!r}; "
                '{"type": "reshape", "unfold_time_rank": n} makes a time rank of n steps'
            )
        return box.with_extra_ranks(box.batch_rank, box.time_rank, self.output_is_time_major)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, T, ...] -> [T, B, ...]``, or back."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, space_of="inputs")
    def _call(self, ops: Any, space: Space, inputs: Any) -> Any:
        if space.time_major == self.output_is_time_major:
            return inputs
        return ops.moveaxis(inputs, 0, 1)
