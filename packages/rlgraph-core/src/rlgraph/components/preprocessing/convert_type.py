"""Converts the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_choice
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, check_numeric, float_bounds
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox

#: Name in a spec -> dtype in a graph function.
DTYPES = {
    "float": "float",
    "float32": "float",
    "float64": "float",
    "int": "int64",
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "uint8": "uint8",
    "bool": "bool",
}


class ConvertType(PreprocessLayer):
    """Converts values to another dtype; conversion to integers truncates fractions.

    Args:
        to_dtype: ``"float"``, ``"float32"`` and ``"float64"`` all mean the float type of the execution
            (``execution_spec.dtype``); ``"int"`` is ``"int64"``; ``"int32"``, ``"int16"``, ``"uint8"``, ``"bool"``.

    Raises:
        SpecError: an unknown dtype.
        SpaceError: text.
    """

    def __init__(self, to_dtype: str, scope: str = "convert-type", **kwargs: Any):
        self.to_dtype = DTYPES[check_choice(to_dtype, f"{scope}.to_dtype", DTYPES, "dtype")]
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        options: dict[str, Any] = box.ranks.options()
        if self.to_dtype == "bool":
            return BoolBox(shape=box.shape, **options)
        low, high = float_bounds(box)
        if self.to_dtype == "float":
            return FloatBox(low, high, shape=box.shape, **options)
        low, high = _whole(low, 0), _whole(high, 1)
        return IntBox(low, high, shape=box.shape, dtype=self.to_dtype, **options)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [...]``, a tensor or a container ``-> [...]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _call(self, ops: Any, inputs: Any) -> Any:
        return ops.astype(inputs, self.to_dtype)


def _whole(bound: Any, add: int) -> Any:
    if bound is None or not np.all(np.isfinite(bound)):
        return None
    return (np.trunc(bound).astype(np.int64) + add).tolist()
