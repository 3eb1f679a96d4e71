"""Conversion of colours to grey values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.image_checks import in_dtype_of
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, with_shape
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, SpaceError


class GrayScale(PreprocessLayer):
    """The weighted sum of the channels, ``[B, ..., C] -> [B, ...]``; integers are rounded and keep their dtype.

    A sum outside the dtype's range is clipped, for bytes to 0 or 255.

    Args:
        weights: one weight per channel; default: 0.299, 0.587, 0.114 for red, green and blue (ITU-R BT.601, as OpenCV,
            Pillow and ALE).
        keep_rank: return ``[B, ..., 1]``.

    Raises:
        SpecError: the weights are not numbers.
        SpaceError: the last axis does not have one channel per weight, or the inputs are neither integers nor floats.
    """

    def __init__(
        self,
        weights: Sequence[float] = (0.299, 0.587, 0.114),
        keep_rank: bool = False,
        scope: str = "grayscale",
        **kwargs: Any,
    ):
        if isinstance(weights, str) or not isinstance(weights, Sequence) or not weights:
            raise SpecError(
                f"expected a list of one number per channel, given {weights!r}", path=f"{scope}.weights"
            )
        self.weights = [check_number(weight, f"{scope}.weights[{i}]") for i, weight in enumerate(weights)]
        self.keep_rank = keep_rank
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        channels = len(self.weights)
        if not isinstance(box, IntBox | FloatBox) or box.shape[-1:] != (channels,):
            raise SpaceError(
                f"{self.scope_path}: expected numbers with a last axis of {channels} channels, given {box!r}; "
                "weights= takes one weight per channel"
            )
        shape = (*box.shape[:-1], 1) if self.keep_rank else box.shape[:-1]
        averages = min(self.weights) >= 0.0 and abs(sum(self.weights) - 1.0) < 1e-6
        return with_shape(box, shape, keep_bounds=averages)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ..., C] -> [B, ...]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        grey = ops.astype(inputs[..., 0], "float") * self.weights[0]
        for channel, weight in enumerate(self.weights[1:], start=1):
            grey = grey + ops.astype(inputs[..., channel], "float") * weight
        if self.keep_rank:
            grey = grey[..., None]
        return in_dtype_of(ops, self.boxes[key], grey)
