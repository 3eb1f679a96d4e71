"""The contract on NumPy arrays. It does not check arguments: the abstract evaluation at build time has done so."""

from __future__ import annotations

from typing import Any

from rlgraph.core.numpy.control import NumpyControl
from rlgraph.core.numpy.convolution import Convolutions
from rlgraph.core.numpy.elementwise import Elementwise
from rlgraph.core.numpy.gather import Gathers
from rlgraph.core.numpy.random import NumpyRandom
from rlgraph.core.numpy.recurrence import Recurrence
from rlgraph.core.numpy.reduction import Reductions
from rlgraph.core.numpy.shaping import Creation, Shaping
from rlgraph.core.numpy.state import NumpyRows

Array = Any


class NumpyOps(
    Creation,
    Elementwise,
    Reductions,
    Recurrence,
    Gathers,
    Shaping,
    Convolutions,
    NumpyRandom,
    NumpyControl,
    NumpyRows,
):
    """The `ops` namespace of the NumPy backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    @staticmethod
    def read(variable: Array) -> Array:
        return variable.copy()

    @staticmethod
    def assign(variable: Array, value: Array) -> None:
        variable[...] = value

    @staticmethod
    def assign_add(variable: Array, value: Array) -> None:
        variable += value
