"""Time folded into the batch and unfolded again."""

from __future__ import annotations

from typing import Any

from rlgraph.core import Component, graph_fn
from rlgraph.core.ops import leaves_of


class TimeFolding(Component):
    """A component that can fold time into the batch; for use in its API methods."""

    @graph_fn(flatten_ops=True, split_ops=True)
    def _fold_time(self, ops: Any, inputs: Any) -> Any:
        """``[B, T, ...]`` or ``[T, B, ...]``, or a container of such, ``-> [B * T, ...]``."""
        return ops.reshape(inputs, (-1, *inputs.shape[2:]))

    @graph_fn(flatten_ops={"folded"})
    def _unfold_time(self, ops: Any, folded: Any, like: Any) -> Any:
        """``folded [B * T, ...]``, or a container of such, with the two leading sizes of ``like``."""
        first, second = ops.shape(leaves_of(like)[0])[:2]
        return {path: ops.reshape(x, (first, second, *x.shape[1:])) for path, x in folded.items()}
