"""The halves of Horovod, one for each framework: each gives its module, and how to add arrays up with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

Framework = Literal["torch", "tensorflow"]
#: Adds an array up over all processes; may overwrite it.
Sum = Callable[[np.ndarray], np.ndarray]


def _torch() -> tuple[Any, Sum]:
    import horovod.torch as hvd
    import torch

    def sum_of(array: np.ndarray) -> np.ndarray:
        hvd.allreduce_(torch.from_numpy(array), name="sum", op=hvd.Sum)
        return array

    return hvd, sum_of


def _tensorflow() -> tuple[Any, Sum]:
    import horovod.tensorflow as hvd
    import tensorflow as tf

    def sum_of(array: np.ndarray) -> np.ndarray:
        summed: np.ndarray = hvd.allreduce(tf.constant(array), name="sum", op=hvd.Sum).numpy()
        return summed

    return hvd, sum_of


#: Framework -> what imports Horovod for it; the first is preferred.
HALVES: Mapping[str, Callable[[], tuple[Any, Sum]]] = MappingProxyType(
    {"torch": _torch, "tensorflow": _tensorflow}
)
