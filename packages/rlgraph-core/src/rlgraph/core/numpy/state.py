"""Writes of rows on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


class NumpyRows:
    """The operations that write rows of a variable (see `rlgraph.core.ops.state`); part of `NumpyOps`."""

    @staticmethod
    def scatter_update(variable: Array, indices: Array, values: Array) -> None:
        variable[indices] = values

    @staticmethod
    def scatter_add(variable: Array, indices: Array, values: Array) -> None:
        np.add.at(variable, indices, values)
