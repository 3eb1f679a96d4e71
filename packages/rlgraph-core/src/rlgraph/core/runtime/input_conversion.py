"""Input conversion: arguments of API methods become arrays of their Spaces, or errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.errors import InputError
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec


def converter(method: str, leaf: Leaf, spec: TensorSpec) -> Callable[[Any], np.ndarray]:
    """The careful conversion of one input, run only when it is not an array of the right dtype and shape already."""
    name = ".".join([getattr(leaf.source, "name", "input"), *map(str, leaf.path)])
    is_text = spec.dtype == "str"
    dtype = np.dtype(object if is_text else spec.dtype)

    def convert(value: Any) -> np.ndarray:
        if value is None:
            raise InputError(
                f"{method}: argument {name}: expected {spec}, given None or nothing: the graph was built with a Space "
                "for it, and so needs it at every call; without that Space in input_spaces it is left out"
            )
        try:
            array = np.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:  # of PyTorch: a tensor with a gradient
            raise InputError(
                f"{method}: argument {name}: expected {spec}, given {value!r}: {error}"
            ) from None
        given = f"{array.dtype}{list(array.shape)}"
        fits = len(array.shape) == len(spec.shape) and all(
            isinstance(want, SymbolicDim) or want == have
            for want, have in zip(spec.shape, array.shape, strict=True)
        )
        if not fits:
            hint = (
                " (one batch rank more than given: pass value[None])"
                if array.ndim == len(spec.shape) - 1
                else ""
            )
            raise InputError(f"{method}: argument {name}: expected {spec}, given {given}{hint}")
        if is_text:
            castable = all(isinstance(text, str) for text in array.flat)
        else:
            castable = array.dtype == dtype or np.can_cast(array.dtype, dtype, "same_kind")
        if not castable:
            raise InputError(f"{method}: argument {name}: expected {spec}, given {given}; convert it first")
        return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)

    return convert
