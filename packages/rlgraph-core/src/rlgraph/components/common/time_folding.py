"""Folds time into the batch and unfolds it."""

from __future__ import annotations

from typing import Any

from rlgraph.core import Component, graph_fn
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import Space


class TimeFolding(Component):
    """A component that can fold time into the batch; for use in its API methods. Without time rank nothing changes."""

    @graph_fn(flatten_ops=True, split_ops=True, space_of="inputs")
    def _fold_time(self, ops: Any, space: Space, inputs: Any) -> Any:
        """``[B, T, ...]`` or ``[T, B, ...]``, or a container of such, ``-> [B * T, ...]``."""
        return ops.reshape(inputs, (-1, *inputs.shape[2:])) if space.has_time_rank else inputs

    @graph_fn(flatten_ops={"folded"}, space_of="like")
    def _unfold_time(self, ops: Any, space: Space, folded: Any, like: Any) -> Any:
        """``folded [B * T, ...]``, or a container of such, with the two leading sizes of ``like``."""
        if not space.has_time_rank:
            return folded
        first, second = ops.shape(leaves_of(like)[0])[:2]
        return {path: ops.reshape(x, (first, second, *x.shape[1:])) for path, x in folded.items()}
