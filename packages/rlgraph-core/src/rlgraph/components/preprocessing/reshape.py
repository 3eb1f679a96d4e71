"""Another shape; categories as one-hot vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, check_whole, with_shape
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, IntBox, Space, SpaceError


class Reshape(PreprocessLayer):
    """``[B, ...] -> [B, *new_shape]``; batch and time rank stay.

    Args:
        new_shape: the shape without batch and time rank; one size may be -1, for what is left.
        flatten: ``[B, N]`` comes out.
        flatten_categories: an `IntBox` with categories becomes one-hot floats, ``[B, ...] -> [B, ..., categories]``,
            before the shape changes. Default, with `flatten`: for a single category (a Space without axes), where there
            is nothing else to flatten.
        scope: name among its siblings.

    Raises:
        SpecError: neither a shape, nor `flatten`, nor `flatten_categories`; or both a shape and `flatten`.
        SpaceError: the shape does not fit, or there are no categories.
    """

    def __init__(
        self,
        new_shape: Sequence[int] | None = None,
        flatten: bool = False,
        flatten_categories: bool | None = None,
        scope: str = "reshape",
        **kwargs: Any,
    ):
        if new_shape is None and not flatten and not flatten_categories:
            raise SpecError(f"{scope}: give new_shape, or flatten=True, or flatten_categories=True")
        if new_shape is not None and flatten:
            raise SpecError(f"{scope}: give new_shape or flatten=True, not both")
        self.new_shape = None if new_shape is None else _shape(new_shape, f"{scope}.new_shape")
        self.flatten, self.flatten_categories = flatten, flatten_categories
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        if self._is_one_hot(box):
            if not isinstance(box, IntBox) or box.num_categories is None:
                raise SpaceError(f"{self.scope_path}: expected an IntBox with categories, given {box!r}")
            box = box.as_one_hot_float_space()
        return with_shape(box, self._new_shape(box))

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        self._shapes = {path: self.preprocessed_box(box).shape for path, box in self.boxes.items()}

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, a tensor or a container ``-> [B, *new_shape]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        box = self.boxes[key]
        leading = [ops.shape(inputs)[i] for i in range(len(inputs.shape) - box.rank)]
        if self._is_one_hot(box):
            inputs = ops.one_hot(inputs, box.num_categories)
        return ops.reshape(inputs, (*leading, *self._shapes[key]))

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
        raise SpecError(f"{where}: expected a list of sizes, at most one of them -1, given {sizes!r}")
    return tuple(
        -1 if size == -1 else check_whole(size, f"{where}[{i}]", least=1) for i, size in enumerate(sizes)
    )
