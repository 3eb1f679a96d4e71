"""Cropping of images."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.preprocessing.image_checks import check_image
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, with_shape
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, SpaceError


class ImageCrop(PreprocessLayer):
    """Crops images to the rows ``y`` to ``y + height - 1`` and columns ``x`` to ``x + width - 1``.

    Args:
        x, y: the first column and row, from 0 at the top left.
        width, height: the size of the part.

    Raises:
        SpecError: a size below 1, or a first column or row below 0.
        SpaceError: the inputs are not images [H, W] or [H, W, C], or the part exceeds them.
    """

    def __init__(
        self, x: int = 0, y: int = 0, *, width: int, height: int, scope: str = "image-crop", **kwargs: Any
    ):
        self.x, self.y = check_whole(x, f"{scope}.x", least=0), check_whole(y, f"{scope}.y", least=0)
        self.width = check_whole(width, f"{scope}.width", least=1)
        self.height = check_whole(height, f"{scope}.height", least=1)
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        height, width = check_image(box, self.scope_path)
        if self.y + self.height > height or self.x + self.width > width:
            raise SpaceError(
                f"{self.scope_path}: rows {self.y} to {self.y + self.height - 1} and columns {self.x} to "
                f"{self.x + self.width - 1} exceed {box!r}"
            )
        return with_shape(box, (self.height, self.width, *box.shape[2:]))

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, H, W] -> [B, height, width]``, channels stay."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        rows, columns = slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)
        if self.boxes[key].rank == 2:
            return inputs[..., rows, columns]
        return inputs[..., rows, columns, :]
