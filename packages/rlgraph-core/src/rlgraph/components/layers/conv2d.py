"""A convolution over images."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.layers.activations import apply_activation, check_activation
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.components.layers.leading_axes import over_images
from rlgraph.components.layers.windows import check_fits, check_padding, check_pair
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec
from rlgraph.spaces import FloatBox, Space


class Conv2D(Component):
    """``activation(conv2d(inputs, weights) + biases)``: ``inputs [B, H, W, C] -> [B, H', W', filters]``.

    Args:
        filters: number of output channels.
        kernel_size: height and width of a filter; one number for both, or a pair.
        strides: step of the window in rows and columns; one number for both, or a pair.
        padding: ``"valid"``: none; ``"same"``: zeros, so that the output has ``ceil(H / stride)`` rows (centred, an
            odd one at the end).
        activation: name of an activation, or a function ``f(ops, x)``; None for none.
        weights_spec: initializer of the weights [kernel height, kernel width, C, filters].
        biases_spec: initializer of the biases [filters]; False for a layer without.

    Raises:
        SpecError: a size below 1, an unknown padding or activation.
        SpaceError: the input is not a float [H, W, C], or is smaller than the filter.
    """

    other_names = MappingProxyType({"kernel_spec": "weights_spec"})

    def __init__(
        self,
        filters: int,
        kernel_size: int | tuple[int, int],
        strides: int | tuple[int, int] = 1,
        padding: str = "valid",
        activation: ActivationSpec = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        scope: str = "conv2d",
        **kwargs: Any,
    ):
        self.filters = check_whole(filters, f"{scope}.filters", least=1)
        self.kernel_size = check_pair(kernel_size, f"{scope}.kernel_size")
        self.strides = check_pair(strides, f"{scope}.strides")
        self.padding = check_padding(padding, f"{scope}.padding")
        self.activation = check_activation(activation, f"{scope}.activation")
        self.weights_spec = weights_spec
        self.biases_spec = biases_spec
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=3)
        check_fits(input_spaces["inputs"], self.kernel_size, self.padding)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        channels = self.channels_of(input_spaces["inputs"].shape[2])
        shape = FloatBox(shape=(*self.kernel_size, *channels))
        self.weights = self.get_variable("weights", shape, initializer=self.weights_spec)
        self.biases = None
        if self.biases_spec is not False:
            space = FloatBox(shape=(self.filters,))
            self.biases = self.get_variable("biases", space, initializer=self.biases_spec)

    def channels_of(self, inputs: int) -> tuple[int, int]:
        """The last two axes of the weights, for this number of input channels."""
        return inputs, self.filters

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, H, W, C] -> [B, H', W', filters]``; a time rank stays."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        def layer(images: Any) -> Any:
            outputs = ops.conv2d(images, self.weights, self.strides, self.padding)
            if self.biases is not None:
                outputs = outputs + self.biases
            return apply_activation(ops, self.activation, outputs)

        return over_images(ops, inputs, layer)
