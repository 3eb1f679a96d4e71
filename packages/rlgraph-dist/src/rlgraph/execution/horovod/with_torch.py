"""Sums of arrays by Horovod's PyTorch half."""

from __future__ import annotations

import horovod.torch as hvd
import numpy as np
import torch

framework = hvd


def sum_of(array: np.ndarray) -> np.ndarray:
    """The sum over all processes; overwrites the array."""
    hvd.allreduce_(torch.from_numpy(array), name="sum", op=hvd.Sum)
    return array
