"""Picking and sorting elements of PyTorch tensors, and the linear recurrence."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Gathers:
    """The families gather, sorting and recurrence."""

    @staticmethod
    def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
        if indices.ndim == 1:
            return torch.index_select(x, axis, indices)
        axis %= x.ndim
        flat = torch.index_select(x, axis, indices.reshape(-1))
        return flat.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    @staticmethod
    def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
        return torch.gather(x, axis, indices if indices.dtype is torch.int64 else indices.long())

    @staticmethod
    def boolean_mask(x: Tensor, mask: Tensor) -> Tensor:
        return x[mask]

    @staticmethod
    def segment_sum(values: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
        return values.new_zeros((num_segments, *values.shape[1:])).index_add(0, segment_ids, values)

    @staticmethod
    def sort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
        return torch.sort(x, dim=axis, descending=descending)[0]

    @staticmethod
    def argsort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
        return torch.argsort(x, dim=axis, descending=descending, stable=True)

    @staticmethod
    def top_k(x: Tensor, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
        # `torch.topk` does not say which of equal elements it takes.
        values, indices = torch.sort(x, dim=axis, descending=True, stable=True)
        return torch.narrow(values, axis, 0, k), torch.narrow(indices, axis, 0, k)

    @staticmethod
    def searchsorted(x1: Tensor, x2: Tensor, side: str = "left") -> Tensor:
        return torch.searchsorted(x1, x2.contiguous(), side=side)

    @staticmethod
    def linear_recurrence(
        x: Tensor, d: Any, initial: Tensor | None = None, reverse: bool = False, axis: int = 0
    ) -> Tensor:
        d = torch.broadcast_to(torch.as_tensor(d, dtype=x.dtype, device=x.device), x.shape)
        y, d = torch.movedim(x, axis, 0), torch.movedim(d, axis, 0)
        if not reverse:
            y, d = torch.flip(y, (0,)), torch.flip(d, (0,))
        if initial is not None and len(y):
            y = torch.cat([y[:-1], torch.addcmul(y[-1], d[-1], initial)[None]])
        y = _from_the_end(y, d)
        return torch.movedim(y if reverse else torch.flip(y, (0,)), 0, axis)


def _from_the_end(y: Tensor, d: Tensor) -> Tensor:
    """``y_t + d_t * y_{t+1}``, by doubling the reach of each element: log2(T) operations on all of them."""
    reach = 1
    while reach < len(y):
        y = torch.cat([torch.addcmul(y[:-reach], d[:-reach], y[reach:]), y[-reach:]])
        d = torch.cat([d[:-reach] * d[reach:], d[-reach:]])
        reach *= 2
    return y
