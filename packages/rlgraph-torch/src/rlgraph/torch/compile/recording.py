"""CUDA graphs: what a segment does on a GPU is recorded in its first call, and played back from then on.

For small networks most of the time on a GPU goes into launching one kernel after the other; a recording is launched as
a whole. It reads its inputs where they lay when it was recorded, writes the variables where they are, and leaves its
outputs in the same place every time.
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

#: Libraries make themselves at home in the first calls, which must not be recorded.
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
    """Where a segment computes, and where its variables are."""
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
    """A segment as a recording, for the sizes of `arrays`; calls of other sizes are `eager`.

    Args:
        plan, segment: what is recorded.
        storage: the variables; they are as before when it is done, whether it succeeds or not.
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
    finally:  # recording begins with calls that count
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
    """What plays `compute`, and the tensors in which the results are then.

    Raises:
        RuntimeError: it waits for the GPU somewhere, to look at a value for instance.
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
