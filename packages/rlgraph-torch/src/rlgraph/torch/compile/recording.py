"""CUDA graphs: a segment is recorded on a GPU in its first call and replayed from then on.

Small networks spend most of their GPU time on launching single kernels; a recording is launched at once. It reads its
inputs from fixed memory, writes the variables in place, and writes its outputs to fixed memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlgraph.core.graph.nodes import GraphFunctionCall, walk_nodes
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.torch.compile.tracing import tensor_of_array
from rlgraph.torch.devices import CPU
from rlgraph.torch.storage import TorchStorage

Lowered = Callable[..., tuple[Any, ...]]

#: Libraries initialize themselves in the first calls, which must not be recorded.
WARM_UP = 3


def why_not(plan: Plan, segment: Segment) -> str:
    """Why a segment cannot be recorded; empty if it can."""
    devices = sorted(_devices(plan, segment))
    if len(devices) > 1 or devices == [CPU]:
        return f"it is placed on {' and '.join(devices)}: only what is on one GPU alone is recorded"
    if any(plan.built.effects[node.id].draws for node in segment.nodes):
        return "it draws random numbers, which are made on the CPU"
    return ""


def _devices(plan: Plan, segment: Segment) -> set[str]:
    """The devices on which a segment computes, and those of its variables."""
    built = plan.built
    calls = [node for node in walk_nodes(segment.nodes) if isinstance(node, GraphFunctionCall)]
    return {
        *(built.devices[node.component].ops or CPU for node in calls),
        *(built.layout.groups[name].device or CPU for name in segment.reads | segment.writes),
    }


def recorded(
    plan: Plan,
    segment: Segment,
    storage: TorchStorage,
    compute: Lowered,
    eager: Lowered,
    arrays: Sequence[np.ndarray],
) -> Lowered:
    """Record a segment for the sizes of `arrays`; calls of other sizes are `eager`.

    Args:
        plan, segment: the segment.
        storage: the variables; their values are restored after recording, even if it fails.
        compute: the segment as a function of tensors on its GPU.
        eager: the segment as a function of arrays.
        arrays: inputs.
    """
    (device,) = _devices(plan, segment)
    inputs = [tensor_of_array(array).to(device, copy=True) for array in arrays]
    groups = [storage.groups[name] for name in segment.reads | segment.writes]
    before = [group.clone() for group in groups]
    try:
        play, outputs = record(lambda: compute(*inputs), device)
    finally:  # the warm-up calls have written variables
        for group, values in zip(groups, before, strict=True):
            group.copy_(values)
    shapes = [array.shape for array in arrays]

    def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        if [array.shape for array in arrays] != shapes:
            return eager(*arrays)
        for tensor, array in zip(inputs, arrays, strict=True):
            tensor.copy_(tensor_of_array(array))
        play()
        return tuple([output.detach().cpu().numpy() for output in outputs])

    return run


def record(
    compute: Callable[[], Sequence[Tensor]], device: str
) -> tuple[Callable[[], None], Sequence[Tensor]]:
    """A function that replays `compute`, and the tensors that hold its results.

    Raises:
        RuntimeError: it waits for the GPU, for instance to read a value.
    """
    with torch.cuda.device(device):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = compute()
    return graph.replay, outputs
