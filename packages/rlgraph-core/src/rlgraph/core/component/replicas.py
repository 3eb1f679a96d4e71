"""Computations of replicas around an update: splitting batches and combining results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from rlgraph.core.component.component import Component
from rlgraph.core.component.decorators import graph_fn
from rlgraph.core.graph.passes.replica_copies import Replication


def replication(devices: Sequence[str]) -> Replication | None:
    """The settings for replicas on these devices; None without replicas."""
    return Replication(tuple(devices), Replicas(scope="replicas")) if devices else None


class Replicas(Component):
    """The graph functions that connect replicas. A pass calls them; the component is never composed.

    A size is a number, or a tensor on backends that trace; both can be added, multiplied and divided.
    """

    @graph_fn
    def _split(self, ops: Any, x: Any, axis: int, parts: int) -> Any:
        """Split `x` along `axis` into `parts` parts of nearly equal size, larger ones first.

        Parts that would be empty repeat the last item with share 0, since results of an empty batch are NaN or an
        error.
        """
        start, found = 0, []
        for size in _sizes(ops.shape(x)[axis], parts):
            empty = 1 // (size + 1)
            found.append(x[_along(axis, start - empty, start + size)])
            start = start + size
        return tuple(found) if parts > 1 else found[0]

    @graph_fn
    def _shares(self, ops: Any, x: Any, axis: int, parts: int) -> Any:
        """The share of each part in the size of `x` along `axis`: `parts` floats that add up to 1."""
        total = ops.shape(x)[axis]
        count = ops.sum(ops.ones((total,)))
        found = [ops.sum(ops.ones((size,))) / count for size in _sizes(total, parts)]
        return tuple(found) if parts > 1 else found[0]

    @graph_fn
    def _weigh(self, ops: Any, x: Any, share: Any) -> Any:
        """The contribution of a part's number to that of the whole batch."""
        return x * share

    @graph_fn
    def _sum(self, ops: Any, *parts: Any) -> Any:
        """The sum of numbers or of lists of derivatives."""
        if isinstance(parts[0], list | tuple):
            return [reduce(add, blocks) for blocks in zip(*parts, strict=True)]
        return reduce(add, parts)

    @graph_fn
    def _join(self, ops: Any, axis: int, like: Any, like_axis: int, *parts: Any) -> Any:
        """Concatenate the parts along `axis`, up to the size of `like` along `like_axis`."""
        return ops.concat(parts, axis)[_along(axis, 0, ops.shape(like)[like_axis])]


def _sizes(total: Any, parts: int) -> list[Any]:
    """The sizes of `parts` parts, as in `numpy.array_split`."""
    return [(total + (parts - 1 - part)) // parts for part in range(parts)]


def _along(axis: int, start: Any, stop: Any) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, stop))
