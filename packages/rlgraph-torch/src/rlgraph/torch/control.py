"""Control flow on PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rlgraph.core.ops.python_control import PythonControl


class TorchControl(PythonControl):
    """The control-flow operations (see `rlgraph.core.ops.control`); part of `TorchOps`."""

    @staticmethod
    def unstack(x: Tensor, axis: int) -> Sequence[Tensor]:
        return torch.unbind(x, axis)
