"""Gather and sort operations on PyTorch tensors."""

from __future__ import annotations

import torch
from torch import Tensor


class Gathers:
    """The operation families gather and sorting."""

    @staticmethod
    def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
        if indices.ndim == 1:
            return torch.index_select(x, axis, indices)
        if indices.ndim == 0:
            return torch.index_select(x, axis, indices).squeeze(axis)
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
        # `torch.topk` does not specify the order of equal elements.
        values, indices = torch.sort(x, dim=axis, descending=True, stable=True)
        return torch.narrow(values, axis, 0, k), torch.narrow(indices, axis, 0, k)

    @staticmethod
    def searchsorted(x1: Tensor, x2: Tensor, side: str = "left") -> Tensor:
        return torch.searchsorted(x1, x2.contiguous(), side=side)
