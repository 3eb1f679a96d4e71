"""The network of an agent that is given none, or only what comes after the parts of its states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from rlgraph.algorithms.impala_networks import is_impala_network, with_keys
from rlgraph.components import (
    Dense,
    MultiLSTM,
    NeuralNetwork,
    NoisyDense,
    Policy,
    RecurrentLayer,
    SharedValueFunctionPolicy,
    ValueFunction,
)
from rlgraph.components.preprocessing.preprocess_layer import scale_of
from rlgraph.components.preprocessing.text_codes import is_text
from rlgraph.core import SpecError, registry
from rlgraph.spaces import BoxSpace, Dict, FloatBox, IntBox, Space, Tuple

#: Rows and columns that the three convolutions below need at least; smaller pictures get one convolution.
LARGE_PICTURE = 36
#: Rows and columns of the smallest array that counts as a picture; MiniGrid's views have 7.
SMALLEST_PICTURE = 5

_DENSE = [{"type": "dense", "units": 64, "activation": "relu"}] * 2
_FLATTEN = {"type": "reshape", "flatten": True}
#: Mnih et al. (2015), https://www.nature.com/articles/nature14236, "Model architecture".
_CONVOLUTIONS = [
    {"type": "conv2d", "filters": 32, "kernel_size": 8, "strides": 4, "activation": "relu"},
    {"type": "conv2d", "filters": 64, "kernel_size": 4, "strides": 2, "activation": "relu"},
    {"type": "conv2d", "filters": 64, "kernel_size": 3, "strides": 1, "activation": "relu"},
    _FLATTEN,
    {"type": "dense", "units": 512, "activation": "relu"},
]
#: Young and Tian (2019), https://arxiv.org/abs/1903.03176, section 3.
_SMALL_CONVOLUTION = [
    {"type": "conv2d", "filters": 16, "kernel_size": 3, "strides": 1, "activation": "relu"},
    _FLATTEN,
    {"type": "dense", "units": 128, "activation": "relu"},
]
_AS_FLOATS = {"type": "convert_type", "to_dtype": "float"}
_WORDS = {"type": "instruction_encoder"}
_BY_255 = {"type": "divide", "divisor": 255.0}
_BY_BOUNDS = {"type": "normalize", "by_bounds": True}
#: As a `value_network_spec`: the value function has one layer, on the features of the policy.
SHARED = "shared"
#: Layers that need features; a number is a dense layer.
_ON_FEATURES = (Dense, NoisyDense, MultiLSTM, RecurrentLayer)


def default_network(space: Space) -> list[dict[str, Any]]:
    """Layer specs for states of `space`, preprocessed and without ranks.

    ============================================  ====================================================================
    states                                        layers
    ============================================  ====================================================================
    floats ``[N]``                                two dense layers of 64 with ReLU
    pictures ``[H, W, C]`` of at least 36 x 36    scaled, then the convolutions of Mnih et al. (2015)
    pictures of at least 5 x 5                    scaled, then the convolution of Young and Tian (2019)
    one text                                      an LSTM over its words (Espeholt et al., 2018), then dense
    one category: an integer of ``IntBox(n)``     one-hot, then dense
    other ``uint8``, of any shape                 scaled, as flat floats, then dense
    other numbers                                 as flat floats, then dense
    a ``Dict`` or ``Tuple``, nested or not        the above for each part, without the dense layers of 64; the results
                                                  are concatenated, then dense
    ============================================  ====================================================================

    "Scaled" is ``(x - low) / (high - low)`` with the bounds of the Space, element by element: 0..255 are divided by
    255. Not scaled are numbers within -1..1, such as boards of 0 and 1, numbers without finite bounds or with bounds
    more than 65,535 apart, and floats that may be negative. A ``uint8`` of all 256 values is no category.

    Raises:
        SpecError: texts with axes, nothing (a size of 0), or pictures that are not ``[H, W, C]``; names the part.
    """
    return [*_features(space), *([] if isinstance(space, BoxSpace) and _is_picture(space) else _DENSE)]


def network_for(space: Space, network_spec: Any) -> Any:
    """The spec of a network for states of `space`: `network_spec`, or `default_network` if that is None.

    A list that begins with a dense or recurrent layer, such as ``[64, 64]``, is what comes after the features: those
    of `default_network` are computed first, unless states are floats ``[N]``, which such layers take. A network of
    IMPALA gets the keys of the parts that it takes, see `with_keys`.

    Raises:
        SpecError: as `default_network` and `with_keys`.
    """
    if network_spec is None:
        return default_network(space)
    if is_impala_network(network_spec):
        return with_keys(space, network_spec)
    if isinstance(network_spec, list | tuple) and network_spec and is_impala_network(network_spec[0]):
        return [with_keys(space, network_spec[0]), *network_spec[1:]]
    if _begins_on_features(network_spec) and not (isinstance(space, FloatBox) and space.rank == 1):
        return [*_features(space), *network_spec]
    return network_spec


def policy_and_value_networks(space: Space, network_spec: Any, value_network_spec: Any) -> tuple[Any, Any]:
    """The specs of the networks of a policy and of its value function: `network_for`, by default the same.

    Raises:
        SpecError: as `default_network`.
    """
    layers = network_for(space, network_spec)
    return layers, layers if value_network_spec is None else network_for(space, value_network_spec)


def policy_and_value_function(
    space: Space, action_space: Space, network_spec: Any, value_network_spec: Any
) -> tuple[Policy, ValueFunction | SharedValueFunctionPolicy]:
    """A policy and its value function, with the networks of `policy_and_value_networks`; one component if `SHARED`.

    Raises:
        SpecError: as `default_network`.
    """
    if isinstance(value_network_spec, str) and value_network_spec == SHARED:
        policy = SharedValueFunctionPolicy(network_for(space, network_spec), action_space)
        return policy, policy
    layers, value_layers = policy_and_value_networks(space, network_spec, value_network_spec)
    if value_network_spec is not None:
        value_layers = NeuralNetwork.from_spec(value_layers, path="value_network_spec")
    return Policy(layers, action_space), ValueFunction(value_layers)


def critic_networks(space: Space, layers: Any) -> tuple[Any, Any]:
    """The specs of the two networks of a `SACValueNetwork`, of states and actions and of states, from one of layers.

    Flat floats go through `layers` with the action; other states, and any with memory, alone, and the default layers
    come after them.
    """
    recurrent = NeuralNetwork.from_spec(layers, path="value_network_spec").internal_states_space
    if isinstance(space, FloatBox) and space.rank == 1 and recurrent is None:
        return layers, None
    return default_network(FloatBox(shape=(1,))), layers


def network_in_words(network: NeuralNetwork) -> str:
    """The layers of a network in one line: ``"dense 64, lstm 32"``."""
    return ", ".join(_in_words(layer) for layer in network.layers)


def _in_words(layer: Any) -> str:
    if isinstance(layer, NeuralNetwork):
        return f"{layer.scope} ({network_in_words(layer)})"
    size = getattr(layer, "filters", None) or getattr(layer, "units", None)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(layer).__name__).lower() + (f" {size}" if size else "")


def scales_otherwise(space: Space, network_spec: Any) -> bool:
    """Whether `network_for` scales states of `space` otherwise than version 0.2, which divided all ``uint8`` by 255."""
    if network_spec is not None and not _begins_on_features(network_spec):
        return False

    def before(box: BoxSpace) -> list[Any]:
        return [_BY_255] if box.dtype == "uint8" else []

    boxes = [box for box in space.flatten().values() if not is_text(box)]
    return any(_scaling(box) != before(box) for box in boxes)


def _begins_on_features(network_spec: Any) -> bool:
    if not isinstance(network_spec, list | tuple) or not network_spec:
        return False
    first = network_spec[0]
    kind = first.get("type") if isinstance(first, Mapping) else first
    if isinstance(kind, str):
        with suppress(SpecError):  # the network says what is wrong with it
            kind = registry("rlgraph.components").resolve(
                kind, lambda _: True, "a layer", where="network_spec"
            )
    is_layer = issubclass(kind, _ON_FEATURES) if isinstance(kind, type) else isinstance(kind, _ON_FEATURES)
    return type(kind) is int or is_layer


def _features(space: Space, path: str = "") -> list[dict[str, Any]]:
    """Layers that make floats ``[N]`` of states of `space`."""
    if isinstance(space, BoxSpace):
        return _of_a_box(space, path)
    leaves = space.flatten()
    if not any(_needs_own_layers(leaf) for leaf in leaves.values()):
        return [_FLATTEN, _AS_FLOATS, {"type": "concat"}]
    assert isinstance(space, Dict | Tuple)
    named = dict(space.items()) if isinstance(space, Dict) else dict(enumerate(space))
    networks = {key: _features(part, f"{path}/{key}" if path else str(key)) for key, part in named.items()}
    specs: Any = {key: layers or None for key, layers in networks.items()}
    return [
        {
            "type": "multi_input_stream_network",
            "input_network_specs": specs if isinstance(space, Dict) else list(specs.values()),
        }
    ]


def _needs_own_layers(box: BoxSpace) -> bool:
    """Whether a leaf cannot be concatenated with others as flat numbers, or cannot be taken at all."""
    return bool(_fault(box) or _is_picture(box) or is_text(box) or _scaling(box))


def _of_a_box(box: BoxSpace, path: str) -> list[dict[str, Any]]:
    fault = _fault(box)
    if fault is not None:
        given = f"{box!r}{f' in part {path!r}' if path else ''}"
        raise SpecError(f"there is no default network for states {given}: {fault}", path="network_spec")
    if is_text(box):
        return [_WORDS]
    if _is_category(box):
        return [_FLATTEN]  # one-hot
    scaling = _scaling(box)
    numbers = scaling or ([] if isinstance(box, FloatBox) else [_AS_FLOATS])
    if _is_picture(box):
        return [*numbers, *(_CONVOLUTIONS if min(box.shape[:2]) >= LARGE_PICTURE else _SMALL_CONVOLUTION)]
    flat = [] if box.rank == 1 else [_FLATTEN]
    return [*numbers, *flat] if scaling else [*flat, *numbers]


def _is_category(box: BoxSpace) -> bool:
    if not isinstance(box, IntBox) or box.rank or box.num_categories is None:
        return False
    return box.dtype != "uint8" or box.num_categories < 256


def _scaling(box: BoxSpace) -> list[dict[str, Any]]:
    """The layer that scales a leaf, if it is scaled; bounds of other numbers, such as 0..1e6, are often loose."""
    is_scaled = (box.dtype == "uint8" or _is_picture(box)) and not _is_category(box)
    if not is_scaled or (scale := scale_of(box)) is None:
        return []
    low, span = scale
    return [_BY_255 if isinstance(box, IntBox) and not np.any(low) and np.all(span == 255.0) else _BY_BOUNDS]


def _is_picture(box: BoxSpace) -> bool:
    """Whether a leaf has the shape of a picture ``[H, W, C]``."""
    return box.rank == 3 and min(box.shape[:2]) >= SMALLEST_PICTURE


def _fault(box: BoxSpace) -> str | None:
    """Why there are no default layers for `box`, and what to do; None: there are."""
    if is_text(box) and box.rank > isinstance(box, IntBox):  # codes of a text have an axis
        return "texts with axes; make one text of them, or leave the part out of the states"
    if 0 in box.shape:
        return "states of size 0; leave the part out of the states"
    wide = [size >= LARGE_PICTURE for size in box.shape]
    if sum(wide) > 1 and not (_is_picture(box) and wide[0]):
        return (
            "pictures that are not [H, W, C]; let the environment put the channels last, or, for [84, 84], put "
            '{"type": "reshape", "new_shape": [84, 84, 1]} into preprocessing_spec; for numbers that are no picture, '
            'put {"type": "reshape", "flatten": true} there'
        )
    return None
