"""Max pooling of images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.components.layers.leading_axes import over_images
from rlgraph.components.layers.windows import check_fits, check_padding, check_pair
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import Space


class MaxPool2D(Component):
    """The maximum of each window, per channel: ``inputs [B, H, W, C] -> [B, H', W', C]``.

    For a window with NaN, PyTorch and NumPy return NaN, TensorFlow the largest number.

    Args:
        pool_size: height and width of the window; one number for both, or a pair.
        strides: step of the window in rows and columns; default: its size.
        padding: ``"valid"`` or ``"same"``, as in `Conv2D`; padding is never the maximum.

    Raises:
        SpecError: a size below 1, or an unknown padding.
        SpaceError: the input is not a float [H, W, C], or is smaller than the window.
    """

    def __init__(
        self,
        pool_size: int | tuple[int, int] = 2,
        strides: int | tuple[int, int] | None = None,
        padding: str = "valid",
        scope: str = "max-pool2d",
        **kwargs: Any,
    ):
        self.pool_size = check_pair(pool_size, f"{scope}.pool_size")
        self.strides = self.pool_size if strides is None else check_pair(strides, f"{scope}.strides")
        self.padding = check_padding(padding, f"{scope}.padding")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=3)
        check_fits(input_spaces["inputs"], self.pool_size, self.padding)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, H, W, C] -> [B, H', W', C]``; a time rank stays."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        return over_images(
            ops, inputs, lambda x: ops.max_pool2d(x, self.pool_size, self.strides, self.padding)
        )
