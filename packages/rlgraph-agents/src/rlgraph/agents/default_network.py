"""The network of an agent that is given none: what suits the states."""

from __future__ import annotations

from typing import Any

from rlgraph.core import SpecError
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space, TextBox

#: The three convolutions below need so many rows and columns to leave one.
SMALLEST_IMAGE = 36

_DENSE = [{"type": "dense", "units": 64, "activation": "relu"}] * 2
#: Mnih et al. (2015), https://www.nature.com/articles/nature14236, "Model architecture".
_CONVOLUTIONS = [
    {"type": "conv2d", "filters": 32, "kernel_size": 8, "strides": 4, "activation": "relu"},
    {"type": "conv2d", "filters": 64, "kernel_size": 4, "strides": 2, "activation": "relu"},
    {"type": "conv2d", "filters": 64, "kernel_size": 3, "strides": 1, "activation": "relu"},
    {"type": "reshape", "flatten": True},
    {"type": "dense", "units": 512, "activation": "relu"},
]
_FLATTEN = {"type": "reshape", "flatten": True}
_AS_FLOATS = {"type": "convert_type", "to_dtype": "float"}
_AS_BRIGHTNESS = {"type": "divide", "divisor": 255.0}


def default_network(space: Space) -> list[dict[str, Any]]:
    """Layer specs for states of `space`, preprocessed and without ranks.

    ============================================  ====================================================================
    states                                        layers
    ============================================  ====================================================================
    floats ``[N]``                                two dense layers of 64 with ReLU
    pictures ``[H, W, C]`` of at least 36 x 36    the convolutions of Mnih et al. (2015); uint8 divided by 255 before
    one category                                  one-hot, then dense
    other numbers, and containers of all these    as flat floats behind each other, then dense
    ============================================  ====================================================================

    Raises:
        SpecError: text, or pictures in a container: there is no such default; gives an example of a spec.
    """
    if isinstance(space, BoxSpace):
        _refuse(space, isinstance(space, TextBox))
        return _of_a_box(space)
    for path, box in space.flatten().items():
        _refuse(space, isinstance(box, TextBox) or _is_picture(box) or box.dtype == "uint8", path)
    return [_FLATTEN, _AS_FLOATS, {"type": "concat"}, *_DENSE]


def _of_a_box(box: BoxSpace) -> list[dict[str, Any]]:
    scaled = [_AS_BRIGHTNESS] if box.dtype == "uint8" else []
    if _is_picture(box):
        return [*(scaled or _floats(box)), *_CONVOLUTIONS]
    if scaled:
        return [*scaled, _FLATTEN, *_DENSE]
    is_category = isinstance(box, IntBox) and box.rank == 0 and box.num_categories is not None
    flat = [_FLATTEN] if box.rank != 1 else []
    return [*flat, *([] if is_category else _floats(box)), *_DENSE]


def _floats(box: BoxSpace) -> list[dict[str, Any]]:
    return [] if isinstance(box, FloatBox) else [_AS_FLOATS]


def _is_picture(box: BoxSpace) -> bool:
    return box.rank == 3 and min(box.shape[:2]) >= SMALLEST_IMAGE


def _refuse(space: Space, is_refused: bool, path: str = "") -> None:
    if is_refused:
        part = f" with {path!r}" if path else ""
        raise SpecError(
            f"there is no default network for states {space!r}{part}; give one, and where parts have to "
            'be prepared preprocessing_spec by path, such as {"camera": [{"type": "divide", "divisor": 255}, '
            '{"type": "reshape", "flatten": true}]} with network_spec [{"type": "concat"}, {"type": "dense", '
            '"units": 64, "activation": "relu"}]',
            path="network_spec",
        )
