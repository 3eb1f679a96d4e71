"""Resizing of images."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_choice, check_whole
from rlgraph.components.preprocessing.image_checks import check_image, in_dtype_of
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, with_shape
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace

INTERPOLATIONS = ("area", "bilinear", "nearest")


class ImageResize(PreprocessLayer):
    """``[B, H, W] -> [B, height, width]``, channels are optional; integers are rounded and keep their dtype.

    The centre of pixel i of n is at ``(i + 0.5) / n`` (half-pixel centres, no aligned corners). ``"area"``
    averages the area of a new pixel (as OpenCV's INTER_AREA when the image shrinks); ``"bilinear"`` interpolates
    between the four nearest centres (INTER_LINEAR, no smoothing); ``"nearest"`` takes the pixel at the new centre.

    Args:
        width, height: the new size.
        interpolation: ``"area"``, ``"bilinear"`` or ``"nearest"``.

    Raises:
        SpecError: a size below 1, or an unknown interpolation.
        SpaceError: the inputs are not images [H, W] or [H, W, C].
    """

    def __init__(
        self, width: int, height: int, interpolation: str = "area", scope: str = "image-resize", **kwargs: Any
    ):
        self.width = check_whole(width, f"{scope}.width", least=1)
        self.height = check_whole(height, f"{scope}.height", least=1)
        check_choice(interpolation, f"{scope}.interpolation", INTERPOLATIONS, "interpolation")
        self.interpolation = interpolation
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_image(box, self.scope_path)
        return with_shape(box, (self.height, self.width, *box.shape[2:]))

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, H, W] -> [B, height, width]``, channels stay."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        box = self.boxes[key]
        leading = [ops.shape(inputs)[i] for i in range(len(inputs.shape) - box.rank)]
        height, width, channels = (*box.shape, 1)[:3]
        images = ops.reshape(ops.astype(inputs, "float"), (-1, height, width, channels))
        resized = ops.resize(images, (self.height, self.width), self.interpolation)
        resized = ops.reshape(resized, (*leading, self.height, self.width, *box.shape[2:]))
        return in_dtype_of(ops, box, resized)
