"""The key of a compiled program: a digest of the traced graph and of all that affects its compilation."""

from __future__ import annotations

import hashlib
import os
import platform
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

#: Increase when the same graph is compiled in another way (see `rlgraph.torch.compile.compilers`).
FORMAT = 5


def key_of_graph(graph: GraphModule, inputs: Sequence[Tensor]) -> str | None:
    """The key of a traced graph for inputs of these sizes; None if it holds a tensor."""
    if any(isinstance(value, Tensor) for value in _held(graph)):
        return None
    digest = hashlib.sha256(f"{FORMAT}\n{environment()}\n".encode())
    for tensor in inputs:
        digest.update(_kind(tensor).encode())
    for module in graph.modules():
        if isinstance(module, GraphModule):
            digest.update(module.code.encode())
    return digest.hexdigest()


def _held(graph: GraphModule) -> Iterator[Any]:
    yield from graph.buffers()
    yield from graph.parameters()
    for module in graph.modules():
        yield from vars(module).values()


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()}"


def environment() -> str:
    """What else a program depends on: versions, the processor, threads, settings of inductor."""
    # Inductor's folder does not affect the program.
    settings = sorted(
        item
        for item in os.environ.items()
        if item[0].startswith(("TORCHINDUCTOR_", "CXX")) and item[0] != "TORCHINDUCTOR_CACHE_DIR"
    )
    return str(
        [
            platform.python_version(),
            sysconfig.get_config_var("SOABI"),
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
