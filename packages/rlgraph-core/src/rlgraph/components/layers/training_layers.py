"""Layers that know training."""

from __future__ import annotations

import inspect

from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.components.layers.noisy_dense import NoisyDense
from rlgraph.core import Component


def training_layers(part: Component) -> list[Component]:
    """The layers at and below `part` whose ``call`` takes `training`, without those that only pass it on."""
    return [layer for layer in part.walk() if not isinstance(layer, TimeFolding) and _takes_training(layer)]


def has_only_noise(part: Component) -> bool:
    """Whether layers of `part` know training, and all of them are noisy ones, whose noise is in evaluation as well."""
    layers = training_layers(part)
    return bool(layers) and all(isinstance(layer, NoisyDense) for layer in layers)


def _takes_training(layer: Component) -> bool:
    method = layer.api_methods().get("call")
    return method is not None and "training" in inspect.signature(method).parameters
