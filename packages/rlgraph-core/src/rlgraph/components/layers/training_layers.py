"""Layers that know training."""

from __future__ import annotations

import inspect

from rlgraph.components.layers.noisy_dense import NoisyDense
from rlgraph.core import Component


def has_only_noise(part: Component) -> bool:
    """Whether layers of `part` know training, and all of them are noisy ones, whose noise is in evaluation as well."""
    kinds = [type(layer) for layer in part.walk() if knows_training(type(layer))]
    return bool(kinds) and all(issubclass(kind, NoisyDense) for kind in kinds)


def knows_training(kind: type[Component]) -> bool:
    """Whether ``call`` of a layer takes `training`, and not only to pass it on, as its `passes_training_on` says."""
    method = kind.api_methods().get("call")
    known = method is not None and "training" in inspect.signature(method).parameters
    return known and not getattr(kind, "passes_training_on", False)
