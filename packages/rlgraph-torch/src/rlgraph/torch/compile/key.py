"""The key of a compiled program: a digest of the traced graph and of all that affects its compilation."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch._subclasses import FakeTensor
from torch.fx import GraphModule

#: Increase when the same graph is compiled in another way (see `rlgraph.torch.compile.compilers`).
FORMAT = 3


def key_of_graph(graph: GraphModule, inputs: Sequence[Tensor]) -> str | None:
    """The key of a traced graph for inputs of these sizes; None if it holds a tensor with unreadable values."""
    digest = hashlib.sha256(f"{FORMAT}\n{environment()}\n".encode())
    for tensor in inputs:
        digest.update(_kind(tensor).encode())
    for module in graph.modules():
        if isinstance(module, GraphModule):
            digest.update(module.code.encode())
    for name, constant in sorted(_constants(graph)):
        if isinstance(constant, FakeTensor) or constant.layout != torch.strided:
            return None
        digest.update(f"{name} {_kind(constant)}".encode())
        digest.update(constant.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _constants(graph: GraphModule) -> Iterator[tuple[str, Tensor]]:
    yield from graph.named_buffers()
    yield from graph.named_parameters()
    yield from ((name, value) for name, value in vars(graph).items() if isinstance(value, Tensor))


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride() if tensor.layout == torch.strided else ''}"


def environment() -> str:
    """What else a program depends on: versions, the processor, threads, settings of inductor."""
    # Inductor sets its own cache folder there, which does not affect the program.
    settings = sorted(
        item
        for item in os.environ.items()
        if item[0].startswith(("TORCHINDUCTOR_", "CXX")) and item[0] != "TORCHINDUCTOR_CACHE_DIR"
    )
    return str(
        [
            platform.python_version(),
            torch.__version__,
            torch.version.git_version,
            _processor(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.get_float32_matmul_precision(),
            torch.are_deterministic_algorithms_enabled(),
            settings,
        ]
    )


@cache
def _processor() -> str:
    """The machine and the instruction sets of its processor."""
    flags: Callable[[str], bool] = lambda line: line.startswith(("flags", "Features", "model name"))  # noqa: E731
    cpuinfo = Path("/proc/cpuinfo")
    lines = filter(flags, cpuinfo.read_text().splitlines()) if cpuinfo.exists() else ()
    return str(
        [
            platform.machine(),
            platform.processor(),
            torch.backends.cpu.get_cpu_capability(),
            *sorted(set(lines)),
        ]
    )
