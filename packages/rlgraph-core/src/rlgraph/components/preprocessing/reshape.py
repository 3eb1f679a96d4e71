"""Reshaping, one-hot encoding, and folding of batch and time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, with_shape
from rlgraph.components.preprocessing.rank_folding import folded, rank_sizes, unfolded
from rlgraph.core import AssemblyError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, IntBox, Space, SpaceError


class Reshape(PreprocessLayer):
    """``[B, ...] -> [B, *new_shape]``; batch and time rank stay, unless they are folded or unfolded.

    Args:
        new_shape: the shape without batch and time rank; one size may be -1, which is inferred.
        flatten: return ``[B, N]``.
        flatten_categories: an `IntBox` with categories becomes one-hot floats, ``[B, ...] -> [B, ..., categories]``,
            before the shape changes. Default, with `flatten`: only for a single category (a Space without axes).
        fold_time_rank: ``[B, T, ...] -> [B * T, ...]``, time-major or not.
        unfold_time_rank: ``[B * T, ...] -> [B, T, ...]``; a number is T, True takes B and T from the second argument of
            `call`.
        time_major: with a number of steps, return ``[T, B, ...]``; with True the order must be that of the second
            argument.

    Raises:
        SpecError: nothing to do, or conflicting arguments.
        SpaceError: the shape does not fit, or categories or ranks to fold or unfold are missing.
    """

    def __init__(
        self,
        new_shape: Sequence[int] | None = None,
        flatten: bool = False,
        flatten_categories: bool | None = None,
        fold_time_rank: bool = False,
        unfold_time_rank: bool | int = False,
        time_major: bool | None = None,
        scope: str = "reshape",
        **kwargs: Any,
    ):
        if new_shape is None and not (flatten or flatten_categories or fold_time_rank or unfold_time_rank):
            raise SpecError(
                "expected new_shape, or one of flatten, flatten_categories, fold_time_rank, unfold_time_rank",
                path=scope,
            )
        if new_shape is not None and flatten:
            raise SpecError("expected new_shape or flatten=True, given both", path=scope)
        if fold_time_rank and unfold_time_rank:
            raise SpecError("expected fold_time_rank or unfold_time_rank, given both", path=scope)
        self.new_shape = None if new_shape is None else _shape(new_shape, f"{scope}.new_shape")
        self.flatten, self.flatten_categories = flatten, flatten_categories
        self.fold_time_rank, self.time_major = fold_time_rank, bool(time_major)
        #: Number of steps; True for that of the second argument of `call`.
        self.unfold_time_rank = (
            unfold_time_rank
            if isinstance(unfold_time_rank, bool)
            else check_whole(unfold_time_rank, f"{scope}.unfold_time_rank", least=1)
        )
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        if self._is_one_hot(box):
            if not isinstance(box, IntBox) or box.num_categories is None:
                raise SpaceError(f"{self.scope_path}: expected an IntBox with categories, given {box!r}")
            box = box.as_one_hot_float_space()
        box = with_shape(box, self._new_shape(box))
        if self.fold_time_rank:
            return folded(box, self.scope_path)
        if self.unfold_time_rank:
            return unfolded(box, self.unfold_time_rank, self.time_major, self.scope_path)
        return box

    @rlgraph_api
    def call(self, inputs: Any, input_before_time_rank_folding: Any = None) -> Any:
        """``inputs [B, ...]``, a tensor or a container ``-> [B, *new_shape]``.

        Args:
            inputs: tensors to reshape.
            input_before_time_rank_folding: a tensor ``[B, T, ...]`` or ``[T, B, ...]``, with
                ``unfold_time_rank=True``: it defines the number of steps.
        """
        if self.unfold_time_rank is True and input_before_time_rank_folding is None:
            raise AssemblyError(
                f"{self.scope_path}: unfold_time_rank=True needs input_before_time_rank_folding, whose sizes it takes; "
                "a number of steps needs none"
            )
        return self._call(inputs, input_before_time_rank_folding)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True, space_of="inputs")
    def _call(self, ops: Any, key: str, space: Space, inputs: Any, before: Any) -> Any:
        box = self.box_of(key, space)
        output = self.preprocessed_box(box)
        if self.unfold_time_rank is True:
            # The number of steps is fixed, so that the batch size may vary.
            leading = [ops.shape(before)[0], -1] if output.time_major else [-1, ops.shape(before)[1]]
        elif self.fold_time_rank or self.unfold_time_rank:
            leading = rank_sizes(output)
        else:
            leading = [ops.shape(inputs)[i] for i in range(len(inputs.shape) - box.rank)]
        if self._is_one_hot(box):
            narrow = box.dtype in ("uint8", "int16")
            inputs = ops.one_hot(ops.astype(inputs, "int64") if narrow else inputs, box.num_categories)
        return ops.reshape(inputs, (*leading, *output.shape))

    def _is_one_hot(self, box: BoxSpace) -> bool:
        if self.flatten_categories is None:
            is_category = isinstance(box, IntBox) and box.num_categories is not None
            return self.flatten and box.rank == 0 and is_category
        return self.flatten_categories

    def _new_shape(self, box: BoxSpace) -> tuple[int, ...]:
        if self.flatten:
            return (box.flat_dim,)
        if self.new_shape is None:
            return box.shape
        known = math.prod(size for size in self.new_shape if size != -1)
        left = box.flat_dim // known
        shape = tuple(left if size == -1 else size for size in self.new_shape)
        if math.prod(shape) != box.flat_dim:
            raise SpaceError(
                f"{self.scope_path}: {box.flat_dim} elements do not fit {self.new_shape}, given {box!r}"
            )
        return shape


def _shape(sizes: Any, where: str) -> tuple[int, ...]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or list(sizes).count(-1) > 1:
        raise SpecError(f"expected a list of sizes, at most one of them -1, given {sizes!r}", path=where)
    return tuple(
        -1 if size == -1 else check_whole(size, f"{where}[{i}]", least=1) for i, size in enumerate(sizes)
    )
