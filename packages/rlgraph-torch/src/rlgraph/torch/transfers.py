"""Transfers between the CPU and GPUs, without a wait for each.

A copy between ordinary memory and a GPU makes the CPU wait until the GPU has done everything before it. Copies of
pinned memory only take their place in the GPU's queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

CPU = "cpu"

#: Parts of a buffer begin at multiples of this number of bytes, so that kernels can read several numbers at once.
_ALIGNMENT = 64


def moved(tensor: Tensor, device: Any) -> Tensor:
    """A tensor on `device`. Only a copy to the CPU waits."""
    # PyTorch does not wait for a copy to the CPU if told so, even before its numbers are there.
    return tensor.to(device, non_blocking=str(device) != CPU)


def sent(tensors: Sequence[Tensor], device: str) -> Sequence[Tensor]:
    """Tensors of the CPU on a GPU, in one transfer. Nobody waits, and the originals may change afterwards.

    Args:
        tensors: on the CPU, or on `device` already.
        device: name of a GPU, or ``cpu``.
    """
    if device == CPU or any(tensor.is_cuda for tensor in tensors):
        return [moved(tensor, device) for tensor in tensors]
    return parts(moved(packed(tensors), device), tensors)


def packed(tensors: Sequence[Tensor]) -> Tensor:
    """The bytes ``[n]`` of tensors of the CPU, in pinned memory."""
    buffer = _buffer(tensors, pinned=True)
    for part, tensor in zip(parts(buffer, tensors), tensors, strict=True):
        part.copy_(tensor)
    return buffer


def parts(buffer: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Views of a buffer of bytes, in the dtypes and shapes of `tensors`."""
    return [
        buffer[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
        for start, tensor in zip(_starts(tensors), tensors, strict=False)
    ]


def _buffer(tensors: Sequence[Tensor], pinned: bool) -> Tensor:
    return torch.empty(_starts(tensors)[-1], dtype=torch.uint8, pin_memory=pinned)


def _starts(tensors: Sequence[Tensor]) -> list[int]:
    """Where each tensor begins in a buffer, in bytes, and the size of the buffer."""
    return list(accumulate((-(-x.nbytes // _ALIGNMENT) * _ALIGNMENT for x in tensors), initial=0))


class Fetch:
    """Tensors on their way to the CPU, with the values that they have now.

    Args:
        tensors: on any devices; they may be written as soon as this object is made.
    """

    def __init__(self, tensors: Sequence[Tensor]):
        gpus = {tensor.device for tensor in tensors if tensor.is_cuda}
        self._parts = parts(_buffer(tensors, pinned=bool(gpus)), tensors)
        for part, tensor in zip(self._parts, tensors, strict=True):
            part.copy_(tensor.detach(), non_blocking=True)
        self._arrived = [torch.cuda.Event() for _ in gpus]
        for event, gpu in zip(self._arrived, gpus, strict=True):
            event.record(torch.cuda.current_stream(gpu))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The values. Waits for them, and not for what the GPU was given since."""
        for event in self._arrived:
            event.synchronize()
        # Copies: pinned memory is scarce, and nobody knows how long they are kept.
        return tuple([part.numpy().copy() for part in self._parts])
