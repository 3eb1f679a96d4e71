"""A transposed convolution over images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rlgraph.components.layers.activations import apply_activation
from rlgraph.components.layers.conv2d import Conv2D
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.components.layers.leading_axes import over_images
from rlgraph.core import graph_fn
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec
from rlgraph.spaces import Space


class Conv2DTranspose(Conv2D):
    """Transposed convolution: ``inputs [B, H, W, C] -> [B, H', W', filters]``.

    The gradient of a `Conv2D` with the same window by its images: it enlarges images where `Conv2D` shrinks them
    (Dumoulin and Visin, 2016, section 4, https://arxiv.org/abs/1603.07285).

    Args:
        filters, kernel_size, activation, biases_spec: as in `Conv2D`.
        strides: distance of two input pixels in the output, in rows and columns; one number for both, or a pair.
        padding: ``"valid"``: ``H' = (H - 1) * stride + kernel height``; ``"same"``: ``H' = H * stride``.
        weights_spec: initializer of the weights [kernel height, kernel width, filters, C].

    Raises:
        SpecError: a size below 1, an unknown padding or activation.
        SpaceError: the input is not a batch of floats [H, W, C].
    """

    def __init__(
        self,
        filters: int,
        kernel_size: int | tuple[int, int],
        strides: int | tuple[int, int] = 1,
        padding: str = "valid",
        activation: ActivationSpec = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        scope: str = "conv2d-transpose",
        **kwargs: Any,
    ):
        options = (filters, kernel_size, strides, padding, activation, weights_spec, biases_spec)
        super().__init__(*options, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=3)

    def channels_of(self, inputs: int) -> tuple[int, int]:
        return self.filters, inputs

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        def layer(images: Any) -> Any:
            outputs = ops.conv2d_transpose(images, self.weights, self.strides, self.padding)
            if self.biases is not None:
                outputs = outputs + self.biases
            return apply_activation(ops, self.activation, outputs)

        return over_images(ops, inputs, layer)
