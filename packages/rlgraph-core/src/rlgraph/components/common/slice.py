"""Slices a batch."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import is_whole
from rlgraph.core import AssemblyError, Component, graph_fn, rlgraph_api
from rlgraph.spaces import SpaceError


class Slice(Component):
    """Rows of the first axis.

    Args:
        squeeze: drop the axis of a single row; the indices or the batch size must determine that it is one.
    """

    def __init__(self, squeeze: bool = False, scope: str = "slice", **kwargs: Any):
        self.squeeze = squeeze
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def slice(self, inputs: Any, start_index: int | None = 0, end_index: int | None = None) -> Any:
        """``inputs [N, ...]``, or a container of such, ``-> [end - start, ...]``.

        Args:
            inputs: the batch to slice.
            start_index, end_index: as in Python's slices, negative ones count from the end, but inside the batch: at
                most N, and at least -N; numbers known when the graph is assembled.

        Raises:
            AssemblyError: an index is not a number.
            SpaceError: an index is outside the batch: when the graph is built if N is fixed, else where the backend
                knows N when it runs, as NumPy and PyTorch do; with `squeeze` a number of rows that depends on N.
        """
        for name, index in (("start_index", start_index), ("end_index", end_index)):
            if index is not None and not is_whole(index):
                raise AssemblyError(
                    f"{self.scope_path}.slice: {name}: expected a number known at assembly, given {index!r}; "
                    "ops.take selects rows by indices that are data"
                )
        return self._slice(inputs, start_index, end_index)

    @graph_fn(flatten_ops={"inputs"}, split_ops=True)
    def _slice(self, ops: Any, inputs: Any, start_index: int | None, end_index: int | None) -> Any:
        size = ops.shape(inputs)[0]
        start, end = (
            index if not isinstance(index, int) or index >= 0 else size + index
            for index in (start_index or 0, size if end_index is None else end_index)
        )
        if isinstance(size, int) and not (0 <= start <= size and 0 <= end <= size):
            raise SpaceError(
                f"inputs: expected rows {start_index}:{end_index} inside the batch, given {size} rows"
            )
        part = ops.take(inputs, ops.arange(start, end))
        return (
            ops.squeeze(part, axis=0)
            if self.squeeze and self._is_one(start_index or 0, end_index, size)
            else part
        )

    @staticmethod
    def _is_one(start: int, end: int | None, size: Any) -> bool:
        """Whether there is a single row; two indices from the same end determine it for any batch."""
        if end is None and start < 0:
            return start == -1
        if end is not None and (start < 0) == (end < 0):
            return end - start == 1
        if not isinstance(size, int):
            raise SpaceError(
                f"inputs: with squeeze, expected indices that determine the number of rows, such as 0:1 or -1:, or a "
                f"batch of a fixed size, given {start}:{'' if end is None else end} of an unknown number"
            )
        return len(range(size)[start:end]) == 1
