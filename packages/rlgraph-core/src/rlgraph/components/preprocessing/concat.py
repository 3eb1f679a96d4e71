"""The parts of a container in one tensor."""

from __future__ import annotations

from typing import Any

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, Space, SpaceError, from_spec


class Concat(PreprocessLayer):
    """All leaves of a container behind each other along the last axis, in the order of their paths.

    They are floats whose shapes differ in the last axis at most (see `Reshape` and `ConvertType`). A single tensor
    stays as it is.

    Args:
        scope: name among its siblings.

    Raises:
        SpaceError: the leaves do not fit together, or are no floats.
    """

    def __init__(self, scope: str = "concat", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)

    def get_preprocessed_space(self, space: Any) -> Space:
        space = from_spec(space)
        leaves = space.flatten()
        for path, leaf in leaves.items():
            if not isinstance(leaf, FloatBox) or not leaf.shape:
                raise SpaceError(
                    f"{self.scope_path}: expected floats with at least one axis, given {leaf!r} at {path!r}; "
                    'put {"type": "reshape", "flatten": true} or a convert_type in front'
                )
        fronts = {leaf.shape[:-1] for leaf in leaves.values()}
        if len(fronts) != 1:
            shapes = {path: leaf.shape for path, leaf in leaves.items()}
            raise SpaceError(f"{self.scope_path}: the shapes differ in more than the last axis: {shapes}")
        size = sum(leaf.shape[-1] for leaf in leaves.values())
        return FloatBox(shape=(*fronts.pop(), size), **space.ranks.options())

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs``, a container of ``[B, ..., N_i] -> [B, ..., sum of N_i]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True)
    def _call(self, ops: Any, inputs: Any) -> Any:
        parts = list(inputs.values())
        return parts[0] if len(parts) == 1 else ops.concat(parts, axis=-1)
