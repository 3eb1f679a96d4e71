"""Shape operations on PyTorch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class Shaping:
    """The operation family shaping."""

    squeeze = staticmethod(torch.squeeze)
    expand_dims = staticmethod(torch.unsqueeze)
    reshape = staticmethod(torch.reshape)
    moveaxis = staticmethod(torch.moveaxis)
    concat = staticmethod(torch.cat)
    stack = staticmethod(torch.stack)

    @staticmethod
    def shape(x: Tensor) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
        return torch.broadcast_to(x, tuple(shape))

    @staticmethod
    def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
        return torch.permute(x, tuple(axes))

    @staticmethod
    def flatten(x: Tensor, start_axis: int = 0) -> Tensor:
        return torch.flatten(x, start_axis)

    @staticmethod
    def split(x: Tensor, sizes: Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
        return torch.split(x, list(sizes), axis)

    @staticmethod
    def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
        return torch.unbind(x, axis)

    @staticmethod
    def flip(x: Tensor, axis: Any = None) -> Tensor:
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return torch.flip(x, tuple(axes))

    @staticmethod
    def roll(x: Tensor, shift: int, axis: int) -> Tensor:
        return torch.roll(x, shift, axis)

    @staticmethod
    def tile(x: Tensor, repetitions: Sequence[int]) -> Tensor:
        return torch.tile(x, tuple(repetitions))

    @staticmethod
    def repeat(x: Tensor, repeats: int, axis: int) -> Tensor:
        return torch.repeat_interleave(x, repeats, axis)

    @staticmethod
    def pad(x: Tensor, padding: Sequence[tuple[int, int]], value: float = 0) -> Tensor:
        from_the_last = [count for pair in reversed(padding) for count in pair]
        return torch.nn.functional.pad(x, from_the_last, value=value)

    @staticmethod
    def tril(x: Tensor, k: int = 0) -> Tensor:
        return torch.tril(x, k)

    @staticmethod
    def triu(x: Tensor, k: int = 0) -> Tensor:
        return torch.triu(x, k)
