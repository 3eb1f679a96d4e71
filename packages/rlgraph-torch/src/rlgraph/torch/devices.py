"""Devices on PyTorch: names, and graph functions placed on them.

PyTorch computes on the device of the operands and never moves them. So as soon as anything is on a GPU, every graph
function of a plan has a device, and its arguments are moved there first. Plans on the CPU alone stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import torch
from torch import Tensor

from rlgraph.core.graph.nodes import GraphFunctionCall, walk_nodes
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.ops import OPERATIONS
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.transfers import CPU, moved


def device_names() -> frozenset[str]:
    """The CPU, and the GPUs that PyTorch can use here."""
    return frozenset({CPU, *(f"cuda:{index}" for index in range(torch.cuda.device_count()))})


def device_name(name: str) -> str:
    """Normalize a name: ``gpu``, ``cuda``, ``gpu:0``, ``/device:GPU:0`` are ``cuda:0``, ``cpu:0`` is ``cpu``."""
    kind, _, index = name.lower().removeprefix("/").removeprefix("device:").partition(":")
    if kind == CPU and index in ("", "0"):
        return CPU
    if kind in ("cuda", "gpu") and (not index or index.isdecimal()):
        return f"cuda:{int(index or 0)}"
    return name


def is_placed(plan: Plan) -> bool:
    """Whether anything in a plan is not on the CPU."""
    built = plan.built
    calls = (node for node in walk_nodes(plan.nodes) if isinstance(node, GraphFunctionCall))
    names = {built.devices[node.component].ops for node in calls}
    names.update(group.device for group in built.layout.groups.values())
    return not names <= {"", CPU}


def devices_of(plan: Plan, segment: Segment) -> set[str]:
    """The devices on which a segment computes, and those of its variables."""
    built = plan.built
    calls = [node for node in walk_nodes(segment.nodes) if isinstance(node, GraphFunctionCall)]
    return {
        *(built.devices[node.component].ops or CPU for node in calls),
        *(built.layout.groups[name].device or CPU for name in segment.reads | segment.writes),
    }


class PlacedOps(TorchOps):
    """The `ops` namespace on one device.

    Random streams draw on the CPU and copy the numbers to the device, so a run draws the same numbers on any device.
    """

    device: torch.device

    def __init__(self, on_cpu: TorchOps, device: str):
        super().__init__(on_cpu.float_dtype)
        self.on_cpu, self.device = on_cpu, torch.device(device)


def _drawn_on_cpu(name: str) -> Callable[..., Tensor]:
    def drawn(self: PlacedOps, *args: Any, **kwargs: Any) -> Tensor:
        here = copy(self.on_cpu)
        here.stream = self.stream
        return moved(getattr(here, name)(*moved_to(CPU, args), **moved_to(CPU, kwargs)), self.device)

    return drawn


for _operation in OPERATIONS.values():
    if _operation.family == "random":
        setattr(PlacedOps, _operation.name, _drawn_on_cpu(_operation.name))


def placer(on_cpu: TorchOps) -> Callable[[Callable[..., Callable[..., Any]], str, bool], Callable[..., Any]]:
    """Make graph functions run on a device (see `rlgraph.core.graph.emission.Linker.place`).

    Args:
        on_cpu: the backend's namespace.
    """

    def place(bind: Callable[..., Callable[..., Any]], device: str, writes: bool) -> Callable[..., Any]:
        ops = PlacedOps(on_cpu, device)
        elsewhere: list[Tensor] = []

        def look(handle: Tensor) -> Tensor:
            if handle.device != ops.device:
                elsewhere.append(handle)
            return handle

        bound = bind(look, ops)
        if writes:
            return _writing(bind if elsewhere else lambda *_: bound, ops)
        if elsewhere:  # copies of the variables, new at every call; derivatives go through them
            return lambda *args, **kwargs: bind(lambda handle: moved(handle, ops.device), ops)(
                *moved_to(ops.device, args), **moved_to(ops.device, kwargs)
            )
        return lambda *args, **kwargs: bound(*moved_to(ops.device, args), **moved_to(ops.device, kwargs))

    return place


def _writing(bind: Callable[..., Callable[..., Any]], ops: PlacedOps) -> Callable[..., Any]:
    """A function that writes: variables on other devices are copied in and back."""

    def call(*args: Any, **kwargs: Any) -> Any:
        borrowed: list[tuple[Tensor, Tensor]] = []

        def bring(handle: Tensor) -> Tensor:
            if handle.device == ops.device:
                return handle
            here = moved(handle, ops.device)  # derivatives go through it
            borrowed.append((handle, here))
            return here

        # Lists are blocks of variables; all other arguments are only read.
        brought = [
            [bring(block) for block in value] if isinstance(value, list) else moved_to(ops.device, value)
            for value in args
        ]
        result = bind(bring, ops)(*brought, **moved_to(ops.device, kwargs))
        for handle, here in borrowed:
            handle.detach().copy_(here.detach())
        return result

    return call


def moved_to(device: Any, value: Any) -> Any:
    """A value with every tensor in it on `device`."""
    if isinstance(value, Tensor):
        return moved(value, device)
    if isinstance(value, dict):
        return {key: moved_to(device, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(moved_to(device, item) for item in value)
    return value
