"""Devices on TensorFlow: names, and graph functions placed on them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import tensorflow as tf

from rlgraph.core.graph.nodes import GraphFunctionCall, walk_nodes
from rlgraph.core.graph.plan import Plan

CPU = "cpu:0"


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
    return any(_devices(plan))


def only_device(plan: Plan) -> str:
    """The device of everything in a plan; empty if there are several."""
    used = _devices(plan)
    return used.pop() if len(used) == 1 else ""


def _devices(plan: Plan) -> set[str]:
    """The devices of a plan's graph functions, and of the variables that it reads or writes."""
    built = plan.built
    calls = [node for node in walk_nodes(plan.nodes) if isinstance(node, GraphFunctionCall)]
    return {
        *(built.devices[node.component].ops for node in calls),
        *(built.variables[name].device for name in plan.reads | plan.writes),
    }


def on_device(function: Callable[..., Any], device: str) -> Callable[..., tuple[tf.Tensor, ...]]:
    """A tensor function for tracing, with all that it does on `device`, and its results on the CPU.

    Without it what lies between graph functions, such as a loop and the derivatives in it, could be on another device:
    then every iteration would copy. The results are brought by the program, and whoever reads them waits for nothing.

    Args:
        function: the function.
        device: where it runs; empty where its operations say so themselves.
    """

    def traced(*tensors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.device(device) if device else nullcontext():
            results = function(*(tf.identity(tensor) for tensor in tensors)) or ()
        with tf.device(CPU):
            return tuple(tf.identity(result) for result in results)

    return traced


def place(bind: Callable[..., Callable[..., Any]], device: str, writes: bool) -> Callable[..., Any]:
    """A graph function whose operations are placed on `device` during tracing.

    TensorFlow copies their inputs automatically (see `rlgraph.core.graph.emission.Linker.place`).
    """
    bound = bind()

    def placed(*args: Any, **kwargs: Any) -> Any:
        with tf.device(device):
            return bound(*args, **kwargs)

    return placed
