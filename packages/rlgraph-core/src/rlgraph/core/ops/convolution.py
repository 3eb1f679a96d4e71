"""Convolution, pooling and resizing of images ``[N, H, W, C]`` with fixed heights and widths.

Padding is ``"valid"`` (none) or ``"same"``: centred, for ``ceil(size / stride)`` windows, an odd element at the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_float, require_rank, require_whole
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import common_dtype
from rlgraph.core.ops.images import Pair
from rlgraph.core.ops.tensor_spec import TensorSpec

Padding = Literal["valid", "same"]


def _pair(name: str, parameter: str, value: Pair) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(pair) != 2:
        raise InferenceError(f"ops.{name}: {parameter} must be a number or a pair, given {value!r}")
    height, width = (require_whole(name, parameter, number, least=1) for number in pair)
    return height, width


def _image(name: str, x: TensorSpec) -> tuple[int, int]:
    """Height and width of the images."""
    require_float(name, x)
    require_rank(name, x, 4, "[N, H, W, C]")
    height, width = x.shape[1:3]
    if not (isinstance(height, int) and isinstance(width, int) and height and width):
        raise InferenceError(f"ops.{name} needs images [N, H, W, C] of a fixed height and width, given {x}")
    return height, width


def _kernel(name: str, filters: TensorSpec, axes: str) -> tuple[int, int]:
    """Height and width of the filters."""
    require_rank(name, filters, 4, axes)
    height, width = filters.shape[:2]
    if not (isinstance(height, int) and isinstance(width, int) and height and width):
        raise InferenceError(f"ops.{name} needs filters {axes} of a fixed height and width, given {filters}")
    return height, width


def _known_padding(name: str, padding: str) -> None:
    if padding not in ("valid", "same"):
        raise InferenceError(f"ops.{name}: padding must be 'valid' or 'same', given {padding!r}")


def _windows(
    name: str, x: TensorSpec, window: tuple[int, int], strides: Pair, padding: str
) -> tuple[int, int]:
    """The numbers of windows along height and width."""
    _known_padding(name, padding)
    sizes, steps = _image(name, x), _pair(name, "strides", strides)
    if padding == "same":
        return -(-sizes[0] // steps[0]), -(-sizes[1] // steps[1])
    if sizes[0] < window[0] or sizes[1] < window[1]:
        raise InferenceError(f"ops.{name}: a window of {window} does not fit into the images of {x}")
    return (sizes[0] - window[0]) // steps[0] + 1, (sizes[1] - window[1]) // steps[1] + 1


@operation("convolution")
def conv2d(x: TensorSpec, filters: TensorSpec, strides: Pair = 1, padding: Padding = "valid") -> TensorSpec:
    """``x [N, H, W, C], filters [h, w, C, O] -> [N, H', W', O]``: cross-correlation with `filters`."""
    dtype = common_dtype(x, filters)
    window = _kernel("conv2d", filters, "[h, w, C, O]")
    height, width = _windows("conv2d", x, window, strides, padding)
    if filters.shape[2] != x.shape[3]:
        raise InferenceError(
            f"ops.conv2d: {x} has {x.shape[3]} channels, the filters {filters} take {filters.shape[2]}"
        )
    return TensorSpec((x.shape[0], height, width, filters.shape[3]), dtype)


@operation("convolution")
def conv2d_transpose(
    x: TensorSpec, filters: TensorSpec, strides: Pair = 1, padding: Padding = "valid"
) -> TensorSpec:
    """``x [N, H, W, C], filters [h, w, O, C] -> [N, H', W', O]``: the gradient of a `conv2d` by its images.

    That `conv2d` takes images ``[N, H', W', O]`` and these filters. ``H' = H * stride`` if padding is "same", else
    ``(H - 1) * stride + h``.
    """
    name = "conv2d_transpose"
    dtype = common_dtype(x, filters)
    window = _kernel(name, filters, "[h, w, O, C]")
    _known_padding(name, padding)
    (height, width), (down, right) = _image(name, x), _pair(name, "strides", strides)
    if filters.shape[3] != x.shape[3]:
        raise InferenceError(
            f"ops.{name}: {x} has {x.shape[3]} channels, the filters {filters} take {filters.shape[3]}"
        )
    if padding == "same":
        height, width = height * down, width * right
    else:
        height, width = (height - 1) * down + window[0], (width - 1) * right + window[1]
    return TensorSpec((x.shape[0], height, width, filters.shape[2]), dtype)


def _pool(name: str, x: TensorSpec, size: Pair, strides: Pair | None, padding: str) -> TensorSpec:
    window = _pair(name, "size", size)
    height, width = _windows(name, x, window, window if strides is None else strides, padding)
    return x.with_shape((x.shape[0], height, width, x.shape[3]))


@operation("convolution")
def max_pool2d(
    x: TensorSpec, size: Pair, strides: Pair | None = None, padding: Padding = "valid"
) -> TensorSpec:
    """The largest element of each window of `size`, per channel; strides: default `size`.

    For a window with NaN, the result is NaN or the largest number, depending on the backend.
    """
    return _pool("max_pool2d", x, size, strides, padding)


@operation("convolution")
def avg_pool2d(
    x: TensorSpec, size: Pair, strides: Pair | None = None, padding: Padding = "valid"
) -> TensorSpec:
    """The mean of each window of `size`, per channel; padding is excluded. Strides: default `size`."""
    return _pool("avg_pool2d", x, size, strides, padding)


@operation("convolution")
def resize(
    x: TensorSpec, size: tuple[int, int], method: Literal["bilinear", "nearest", "area"] = "bilinear"
) -> TensorSpec:
    """Resize images ``[N, H, W, C]`` to ``[N, *size, C]``.

    The centre of pixel i lies at ``(i + 0.5) / H``. "nearest" takes the pixel at the new centre, "bilinear"
    interpolates between the nearest centres, "area" averages the area of a new pixel.
    """
    _image("resize", x)
    if method not in ("bilinear", "nearest", "area"):
        raise InferenceError(f"ops.resize: method must be 'bilinear', 'nearest' or 'area', given {method!r}")
    height, width = _pair("resize", "size", size)
    return replace(x, shape=(x.shape[0], height, width, x.shape[3]))
