"""Converts images to black and white."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.image_checks import check_image
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, IntBox


class ImageBinary(PreprocessLayer):
    """Returns 1 where the sum of a pixel's channels is above a threshold, else 0: ``[B, H, W, C] -> [B, H, W]``, uint8.

    Images without channels, ``[B, H, W]``, keep their shape.

    Args:
        threshold: the largest sum that is black, in the units of the image.
        keep_rank: return ``[B, H, W, 1]`` for inputs with channels.

    Raises:
        SpecError: threshold is not a finite number.
        SpaceError: the inputs are not images [H, W] or [H, W, C].
    """

    def __init__(
        self, threshold: float = 0.0, keep_rank: bool = False, scope: str = "image-binary", **kwargs: Any
    ):
        self.threshold = check_number(threshold, f"{scope}.threshold")
        self.keep_rank = keep_rank
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        height, width = check_image(box, self.scope_path)
        channels = (1,) if self.keep_rank and box.rank == 3 else ()
        return IntBox(2, shape=(height, width, *channels), dtype="uint8", **box.ranks.options())

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, H, W, C] -> [B, H, W]``, uint8."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        sums = ops.astype(inputs, "float")
        if self.boxes[key].rank == 3:
            sums = ops.sum(sums, axis=-1, keepdims=self.keep_rank)
        return ops.astype(sums > self.threshold, "uint8")
