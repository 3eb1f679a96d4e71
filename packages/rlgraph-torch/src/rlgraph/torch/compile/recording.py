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

from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.torch.compile.tracing import tensor_of_array
from rlgraph.torch.devices import devices_of
from rlgraph.torch.storage import TorchStorage
from rlgraph.torch.transfers import CPU, Fetch, moved, packed, parts

Lowered = Callable[..., tuple[Any, ...]]

#: Libraries initialize themselves in the first calls, which must not be recorded.
WARM_UP = 3


def why_not(plan: Plan, segment: Segment) -> str:
    """Why a segment cannot be recorded; empty if it can."""
    devices = sorted(devices_of(plan, segment))
    if len(devices) > 1 or devices == [CPU]:
        return f"it is placed on {' and '.join(devices)}: only what is on one GPU alone is recorded"
    if any(plan.built.effects[node.id].draws for node in segment.nodes):
        return "it draws random numbers, which are made on the CPU"
    return ""


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
    (device,) = devices_of(plan, segment)
    tensors = [tensor_of_array(array) for array in arrays]
    held = moved(packed(tensors), device)
    inputs = parts(held, tensors)
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
        held.copy_(packed([tensor_of_array(array) for array in arrays]), non_blocking=True)
        play()
        return Fetch(outputs).arrays()

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
