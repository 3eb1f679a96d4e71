"""The networks of IMPALA."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from rlgraph.components.layers.activation import Activation
from rlgraph.components.layers.conv2d import Conv2D
from rlgraph.components.layers.dense import Dense
from rlgraph.components.layers.lstm import LSTM
from rlgraph.components.layers.max_pool2d import MaxPool2D
from rlgraph.components.layers.residual import Residual
from rlgraph.components.networks.instruction_encoder import InstructionEncoder
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.preprocessing.concat import Concat
from rlgraph.components.preprocessing.convert_type import ConvertType
from rlgraph.components.preprocessing.normalize import Normalize
from rlgraph.components.preprocessing.reshape import Reshape
from rlgraph.core import LayerOutput


class IMPALANetwork(NeuralNetwork):
    """Features of an image, an instruction, the previous action and the previous reward, and an LSTM on top of them
    (Espeholt et al., 2018, figure 3, https://arxiv.org/abs/1802.01561).

    The input is an image [H, W, C], which is scaled as by `Normalize` with ``by_bounds``, or a container with an image
    and other parts. A key may be a path, ``"observation/image"``.

    Args:
        image_key: key of the image; ``""``: the input is the image.
        text_key: key of the instruction, a text; None: no instruction.
        units: size of the LSTM on top, and of the output.
        image_units: size of the features of the image.
        previous_keys: keys of the previous action and the previous reward, or of one part with both; integers become
            one-hot floats. Empty: the network does without them.

    Raises:
        SpaceError: an image, instruction, action or reward has an invalid Space.
    """

    def __init__(
        self,
        image_key: str = "image",
        text_key: str | None = None,
        units: int = 256,
        image_units: int = 256,
        previous_keys: Sequence[str] = ("previous_action", "previous_reward"),
        scope: str = "impala-network",
        **kwargs: Any,
    ):
        image = Normalize(by_bounds=True, scope="pixels")(_part(image_key))
        for layer in self.image_layers():
            image = layer(image)
        image = Dense(image_units, "relu", scope="image-features")(
            Reshape(flatten=True, scope="flat-image")(image)
        )
        parts = [image]
        for key in previous_keys:
            name = key.split("/")[-1].replace("_", "-")
            flat = Reshape(flatten=True, scope=f"flat-{name}")(_part(key))
            parts.append(Concat(scope=name)(ConvertType("float", scope=f"{name}-as-floats")(flat)))
        order = [str(i) for i in range(len(parts))]
        if text_key is not None:
            # Read first, as its host functions may not be between variables and a loss; its features come last.
            parts.insert(0, InstructionEncoder(scope="instruction")(_part(text_key)))
            order = [*(str(i) for i in range(1, len(parts))), "0"]
        core = LSTM(units, scope="core")(Concat(dict_keys=order, scope="features")(tuple(parts)))
        super().__init__(scope=scope, inputs=LayerOutput(None), outputs=core, **kwargs)

    @staticmethod
    @abstractmethod
    def image_layers() -> list[Any]:
        """The layers from an image of floats to the flattening."""


class SmallIMPALANetwork(IMPALANetwork):
    """Two convolutions of 16 filters 8x8, stride 4, and of 32 filters 4x4, stride 2
    (Espeholt et al., 2018, figure 3, left, https://arxiv.org/abs/1802.01561).

    An image, the previous action and reward and, if `text_key` is set, an instruction go into an LSTM; all arguments
    are those of `IMPALANetwork`.
    """

    @staticmethod
    def image_layers() -> list[Any]:
        return [
            Conv2D(16, 8, 4, activation="relu", scope="conv2d-0"),
            Conv2D(32, 4, 2, activation="relu", scope="conv2d-1"),
        ]


class LargeIMPALANetwork(IMPALANetwork):
    """Three sections of 16, 32 and 32 filters, each a convolution, a max-pooling and two residual blocks
    (Espeholt et al., 2018, figure 3, right, https://arxiv.org/abs/1802.01561).

    An image, the previous action and reward and, if `text_key` is set, an instruction go into an LSTM; all arguments
    are those of `IMPALANetwork`.
    """

    @staticmethod
    def image_layers() -> list[Any]:
        return [layer for i, filters in enumerate((16, 32, 32)) for layer in _section(filters, i)] + [
            Activation("relu", scope="last-relu")
        ]


def _part(key: str) -> LayerOutput:
    """The part of the input at a path."""
    return LayerOutput(None, tuple(int(name) if name.isdigit() else name for name in key.split("/") if name))


def _section(filters: int, number: int) -> list[Any]:
    """A convolution, a max-pooling with stride 2, and two residual blocks."""
    return [
        Conv2D(filters, 3, padding="same", scope=f"conv2d-{number}"),
        MaxPool2D(3, 2, padding="same", scope=f"max-pool2d-{number}"),
        *(Residual(_block(filters), repeats=1, scope=f"residual-{number}-{i}") for i in range(2)),
    ]


def _block(filters: int) -> list[dict[str, Any]]:
    convolution = {"type": "conv2d", "filters": filters, "kernel_size": 3, "padding": "same"}
    relu = {"type": "activation", "activation": "relu"}
    return [relu, convolution, relu, convolution]
