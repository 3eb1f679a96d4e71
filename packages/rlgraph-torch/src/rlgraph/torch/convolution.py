"""Convolution and pooling of images ``[N, H, W, C]``, passed as views in PyTorch's order ``[N, C, H, W]``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from rlgraph.core.ops.images import Pair, as_pair, paddings, resize_weights, same_padding


def _channels_first(x: Tensor) -> Tensor:
    return x.permute(0, 3, 1, 2)


def _channels_last(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1)


def _weights(filters: Tensor) -> Tensor:
    # Channels last only for oneDNN: in float64 its fallback would lack derivatives for some sizes.
    layout = torch.channels_last if filters.dtype is torch.float32 else torch.contiguous_format
    return filters.permute(3, 2, 0, 1).contiguous(memory_format=layout)


def _padded(
    x: Tensor, window: tuple[int, int], strides: tuple[int, int], padding: str, value: float
) -> tuple[Tensor, tuple[int, int]]:
    """Images ``[N, C, H, W]`` and the remaining padding per side; only uneven padding is applied here."""
    (top, bottom), (left, right) = paddings((x.shape[2], x.shape[3]), window, strides, padding)
    if top == bottom and left == right:
        return x, (top, left)
    return functional.pad(x, (left, right, top, bottom), value=value), (0, 0)


def convolve(
    x: Tensor,
    filters: Tensor,
    biases: Tensor | None,
    window: tuple[int, int],
    strides: tuple[int, int],
    padding: str,
) -> Tensor:
    """``ops.conv2d(x, filters, strides, padding) + biases``; `window` is the size of the filters."""
    images, rest = _padded(_channels_first(x), window, strides, padding, 0.0)
    return _channels_last(functional.conv2d(images, _weights(filters), biases, strides, rest))


class Convolutions:
    """The family convolution."""

    @staticmethod
    def conv2d(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        return convolve(x, filters, None, (filters.shape[0], filters.shape[1]), as_pair(strides), padding)

    @staticmethod
    def conv2d_transpose(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        down, right = as_pair(strides)
        y = functional.conv_transpose2d(_channels_first(x), _weights(filters), None, (down, right))
        if padding == "same":
            height, width = x.shape[1] * down, x.shape[2] * right
            top = same_padding(height, filters.shape[0], down)[0]
            left = same_padding(width, filters.shape[1], right)[0]
            # Negative padding crops.
            y = functional.pad(y, (-left, left + width - y.shape[3], -top, top + height - y.shape[2]))
        return _channels_last(y)

    @staticmethod
    def max_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        window, steps = as_pair(size), as_pair(size if strides is None else strides)
        images, rest = _padded(_channels_first(x), window, steps, padding, -torch.inf)
        return _channels_last(functional.max_pool2d(images, window, steps, rest))

    @staticmethod
    def avg_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        window, steps = as_pair(size), as_pair(size if strides is None else strides)
        images, rest = _padded(_channels_first(x), window, steps, padding, 0.0)
        if x.is_cuda:  # for overlapping windows its derivative is wrong with channels last (2.11)
            images = images.clone(memory_format=torch.contiguous_format)
        y = functional.avg_pool2d(images, window, steps, rest, count_include_pad=False)
        if images.shape[2:] != x.shape[1:3]:  # the padding does not count
            inside, _ = _padded(x.new_ones((1, 1, *x.shape[1:3])), window, steps, padding, 0.0)
            y = y / functional.avg_pool2d(inside, window, steps)
        return _channels_last(y)

    @staticmethod
    def resize(x: Tensor, size: tuple[int, int], method: str = "bilinear") -> Tensor:
        height, width = as_pair(size)
        rows = torch.tensor(resize_weights(method, x.shape[1], height), dtype=x.dtype, device=x.device)
        columns = torch.tensor(resize_weights(method, x.shape[2], width), dtype=x.dtype, device=x.device)
        return torch.einsum("hH,nHWc,wW->nhwc", rows, x, columns)
