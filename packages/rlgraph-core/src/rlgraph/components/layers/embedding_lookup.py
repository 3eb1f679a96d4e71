"""Embeddings of categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import InitializerSpec
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space, TextBox
from rlgraph.spaces.errors import mismatch


class EmbeddingLookup(Component):
    """Looks up a vector for each id: ``ids [B, ...] -> [B, ..., embed_dim]``; a time rank stays.

    All parts of a container of ids share one table.

    Args:
        embed_dim: length of a row.
        vocab_size: number of rows; ids lie between 0 and ``vocab_size - 1``.
        initializer_spec: initializer of the table [vocab_size, embed_dim].
        trainable: False keeps the table as it starts.
        pad_empty: for an empty sequence return one step of zeros, since some layers do not accept an empty sequence.

    Raises:
        SpecError: a size below 1.
        SpaceError: the ids are not a batch of integers with at most `vocab_size` categories; or `pad_empty` without
            time rank.
        IndexError: an id is outside its Space, at run time on NumPy or on PyTorch's CPU.
    """

    def __init__(
        self,
        embed_dim: int,
        vocab_size: int,
        initializer_spec: InitializerSpec = "truncated_normal",
        trainable: bool = True,
        pad_empty: bool = False,
        scope: str = "embedding-lookup",
        **kwargs: Any,
    ):
        self.embed_dim = check_whole(embed_dim, f"{scope}.embed_dim", least=1)
        self.vocab_size = check_whole(vocab_size, f"{scope}.vocab_size", least=1)
        self.initializer_spec = initializer_spec
        self.pad_empty = pad_empty
        super().__init__(scope=scope, trainable=trainable, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for path, space in input_spaces["ids"].flatten().items():
            if not isinstance(space, IntBox) or not space.has_batch_rank or not _fits(space, self.vocab_size):
                categories = f"0 to {self.vocab_size - 1} (vocab_size is {self.vocab_size})"
                raise mismatch(
                    _at(path), f"an IntBox of {categories} with batch rank", repr(space), _help(space)
                )
            if self.pad_empty and not space.has_time_rank:
                raise mismatch(_at(path), "a time rank, because of pad_empty", repr(space))

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = FloatBox(shape=(self.vocab_size, self.embed_dim))
        self.table = self.get_variable("table", space, initializer=self.initializer_spec)

    @rlgraph_api
    def call(self, ids: Any) -> Any:
        """``ids [B, ...]``, a tensor or a container, ``-> [B, ..., embed_dim]``."""
        return self._call(ids)

    @graph_fn(flatten_ops=True, split_ops=True, space_of="ids")
    def _call(self, ops: Any, space: BoxSpace, ids: Any) -> Any:
        if space.dtype not in ("int32", "int64"):
            ids = ops.astype(ids, "int32")
        rows = ops.take(self.table, ids, axis=0)
        return _padded(ops, rows, 0 if space.time_major else 1) if self.pad_empty else rows


def _padded(ops: Any, rows: Any, axis: int) -> Any:
    """`rows`, or one step of zeros along `axis` if it is empty."""
    sequences = ops.moveaxis(rows, axis, 0)
    longer = ops.pad(sequences, [(0, 1), *[(0, 0)] * (len(rows.shape) - 1)])
    steps = ops.shape(sequences)[0]
    kept = (ops.pad(ops.ones((steps,)), [(0, 1)]) > 0.0) | (ops.arange(steps + 1) == 0)
    return ops.moveaxis(ops.boolean_mask(longer, kept), 0, axis)


def _fits(space: IntBox, size: int) -> bool:
    return space.num_categories is not None and space.num_categories <= size


def _at(path: str) -> str:
    return f"ids/{path}" if path else "ids"


def _help(space: Space) -> str:
    if isinstance(space, TextBox):
        return 'put {"type": "string_to_hash_bucket"} in front'
    return "" if space.has_batch_rank else "give the Space add_batch_rank=True"
