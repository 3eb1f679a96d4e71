"""Weights that users give: values of variables by scoped name, checked before any is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core.errors import InputError, nearest
from rlgraph.core.graph import BuiltGraph


def checked_weights(built: BuiltGraph, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """`values` as arrays.

    Raises:
        InputError: an unknown name, a wrong shape, or values of another kind.
    """
    arrays = {}
    for name, value in values.items():
        variable = built.variables.get(name)
        if variable is None or variable.host:
            raise InputError(f"there is no variable {name!r}. {nearest(name, built.layout.group_of)}")
        array = np.asarray(value)
        if array.shape != variable.shape:
            raise InputError(f"variable {name!r}: expected shape {variable.shape}, given {array.shape}")
        if not np.can_cast(array.dtype, variable.spec.dtype, "same_kind"):
            raise InputError(f"variable {name!r}: expected {variable.spec.dtype}, given {array.dtype}")
        arrays[name] = array
    return arrays
