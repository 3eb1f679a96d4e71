"""Devices on TensorFlow: names, and graph functions placed on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from rlgraph.core.graph.nodes import GraphFunctionCall, walk_nodes
from rlgraph.core.graph.plan import Plan


def device_names() -> frozenset[str]:
    """The logical devices, such as ``cpu:0`` or ``gpu:1``. Starts TensorFlow."""
    return frozenset(
        f"{kind}:{index}"
        for kind in ("cpu", "gpu")
        for index, _ in enumerate(tf.config.list_logical_devices(kind.upper()))
    )


def device_name(name: str) -> str:
    """Normalize a name: ``cpu`` is ``cpu:0``; ``gpu``, ``cuda``, ``cuda:0``, ``/device:GPU:0`` are ``gpu:0``."""
    kind, _, index = name.lower().removeprefix("/").removeprefix("device:").partition(":")
    kind = "gpu" if kind == "cuda" else kind
    return f"{kind}:{int(index or 0)}" if kind in ("cpu", "gpu") and (index or "0").isdecimal() else name


def is_placed(plan: Plan) -> bool:
    """Whether anything in a plan has a device."""
    built = plan.built
    calls = (node for node in walk_nodes(plan.nodes) if isinstance(node, GraphFunctionCall))
    return any(built.devices[node.component].ops for node in calls) or any(
        group.device for group in built.layout.groups.values()
    )


def place(bind: Callable[..., Callable[..., Any]], device: str, writes: bool) -> Callable[..., Any]:
    """A graph function whose operations are placed on `device` during tracing.

    TensorFlow copies their inputs automatically (see `rlgraph.core.graph.emission.Linker.place`).
    """
    bound = bind()

    def placed(*args: Any, **kwargs: Any) -> Any:
        with tf.device(device):
            return bound(*args, **kwargs)

    return placed
