"""Concatenates the parts of a container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import LayerOutput, SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.spaces import BoxSpace, FloatBox, Space, SpaceError, from_spec


class Concat(PreprocessLayer):
    """Concatenates all leaves of a container along one axis, in the order of their paths.

    They are floats whose shapes differ in that axis at most (see `Reshape` and `ConvertType`). A single tensor does
    not change. Several tensors are one container: ``concat.call((a, b))``.

    Args:
        axis: the axis, not counting batch and time rank; negative from the end.
        dict_keys: paths of the leaves to take, in this order; default: all.

    Raises:
        SpecError: `dict_keys` is not a list of different paths, or is empty.
        SpaceError: the leaves do not fit together or are not floats, or a leaf or axis is unknown.
    """

    def __init__(
        self, axis: int = -1, dict_keys: Sequence[str] | None = None, scope: str = "concat", **kwargs: Any
    ):
        axis = check_whole(axis, f"{scope}.axis")
        is_list = isinstance(dict_keys, list | tuple) and dict_keys
        if dict_keys is not None and (not is_list or len(set(dict_keys)) != len(dict_keys)):
            raise SpecError(
                f"expected a list of different paths, given {dict_keys!r}", path=f"{scope}.dict_keys"
            )
        self.axis, self.dict_keys = axis, None if dict_keys is None else tuple(dict_keys)
        super().__init__(scope=scope, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> LayerOutput:
        """As for every layer; several inputs, ``Concat()(a, b)``, are one container."""
        return (
            super().__call__(args if len(args) > 1 else args[0], **kwargs)
            if args
            else super().__call__(**kwargs)
        )

    def get_preprocessed_space(self, space: Any) -> Space:
        space = from_spec(space)
        leaves = self._taken(space.flatten())
        for path, leaf in leaves.items():
            if not isinstance(leaf, FloatBox) or not leaf.shape:
                raise SpaceError(
                    f"{self.scope_path}: expected floats with at least one axis, given {leaf!r} at {path!r}; "
                    'put {"type": "reshape", "flatten": true} or a convert_type in front'
                )
        shapes = {path: leaf.shape for path, leaf in leaves.items()}
        rank = max(map(len, shapes.values()), default=0)
        if not -rank <= self.axis < rank:
            raise SpaceError(f"{self.scope_path}: unknown axis {self.axis} in the shapes {shapes}")
        axis = self.axis % rank
        others = {shape[:axis] + shape[axis + 1 :] for shape in shapes.values()}
        if len(others) != 1 or len({len(shape) for shape in shapes.values()}) != 1:
            along = "the last axis" if axis == rank - 1 else f"axis {self.axis}"
            raise SpaceError(f"{self.scope_path}: the shapes differ in more than {along}: {shapes}")
        (other,) = others
        size = sum(shape[axis] for shape in shapes.values())
        return FloatBox(shape=(*other[:axis], size, *other[axis:]), **space.ranks.options())

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        """`box`: a single tensor does not change."""
        return box

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs``, a container of ``[B, ..., N_i] -> [B, ..., sum of N_i]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True)
    def _call(self, ops: Any, inputs: Any) -> Any:
        parts, rank = list(self._taken(inputs).values()), next(iter(self.boxes.values())).rank
        # From the end, so that batch and time ranks do not count.
        return parts[0] if len(parts) == 1 else ops.concat(parts, axis=self.axis % rank - rank)

    def _taken(self, leaves: dict[str, Any]) -> dict[str, Any]:
        """The leaves `dict_keys`, in that order."""
        if self.dict_keys is None:
            return leaves
        for path in self.dict_keys:
            if path not in leaves:
                raise SpaceError(
                    f"{self.scope_path}.dict_keys: unknown leaf {path!r}. {nearest(path, leaves)}"
                )
        return {path: leaves[path] for path in self.dict_keys}
