"""Writes of rows on PyTorch."""

from __future__ import annotations

from torch import Tensor


class TorchRows:
    """The operations that write rows of a variable (see `rlgraph.core.ops.state`); part of `TorchOps`."""

    @staticmethod
    def scatter_update(variable: Tensor, indices: Tensor, values: Tensor) -> None:
        flat, rows = _rows(variable, indices, values)
        variable.detach().index_copy_(0, flat, rows)

    @staticmethod
    def scatter_add(variable: Tensor, indices: Tensor, values: Tensor) -> None:
        flat, rows = _rows(variable, indices, values)
        variable.detach().index_add_(0, flat, rows)


def _rows(variable: Tensor, indices: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Indices [k], int64, and values [k, *row]."""
    return indices.reshape(-1).long(), values.detach().reshape(indices.numel(), *variable.shape[1:])
