"""Activations by name, as functions of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


def crelu(ops: Any, x: Any) -> Any:
    """``[relu(x), relu(-x)]`` along the last axis: ``x [..., N] -> [..., 2 N]``.

    Shang et al. (2016), https://arxiv.org/abs/1603.05201.
    """
    return ops.concat([ops.relu(x), ops.relu(-x)], axis=-1)


def leaky_relu(ops: Any, x: Any) -> Any:
    """``x`` where positive, else ``0.2 x``."""
    return ops.leaky_relu(x, 0.2)


#: Name in a spec -> name of an operation, or a function of `ops` and the tensor.
ACTIVATIONS: dict[str, str | Callable[[Any, Any], Any]] = {
    "crelu": crelu,
    "elu": "elu",
    "gelu": "gelu",
    "leaky_relu": leaky_relu,
    "log_sigmoid": "log_sigmoid",
    "lrelu": leaky_relu,
    "relu": "relu",
    "selu": "selu",
    "sigmoid": "sigmoid",
    "silu": "silu",
    "softmax": "softmax",
    "softplus": "softplus",
    "softsign": "softsign",
    "swish": "silu",
    "tanh": "tanh",
}


def activation(ops: Any, spec: str | Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """An activation, by its name or as ``f(ops, x)``, as a function of one tensor."""
    found = ACTIVATIONS[spec] if isinstance(spec, str) else spec
    return getattr(ops, found) if isinstance(found, str) else partial(found, ops)
