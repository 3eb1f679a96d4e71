"""Control flow on NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core.ops.python_control import PythonControl


class NumpyControl(PythonControl):
    """The control-flow operations (see `rlgraph.core.ops.control`); part of `NumpyOps`."""

    @staticmethod
    def unstack(x: Any, axis: int) -> Sequence[Any]:
        return list(np.moveaxis(x, axis, 0))
