"""The key of a compiled program: everything it was made of, and everything it was made with."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._subclasses import FakeTensor
from torch.fx import GraphModule

from rlgraph.core.graph.emission import Dialect, Linker, Tape, emit_segment
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.variables import Layout
from rlgraph.torch.compile.description import Doubt, describe
from rlgraph.torch.compile.tracing import TracedOps

FORMAT = 1


def key_of_plan(
    plan: Plan, segment: Segment, dialect: Dialect, float_dtype: str, inputs: Sequence[Tensor]
) -> str | None:
    """The key of a segment for inputs of these sizes, without tracing it; None where it would not be certain."""

    def derivative(*what: Any) -> Any:
        return what

    def itself(what: Any) -> Any:
        return what

    ops = TracedOps(float_dtype, [])
    linker = Linker(itself, itself, Tape(derivative), backend="torch", ops=ops, stream=str, use_kernels=False)
    function = emit_segment(plan, segment, dialect, linker)
    own = {name: value for name, value in function.namespace.items() if name not in dialect.namespace}
    try:
        text = describe(function.source, own, _places(plan.built.layout))
    except (Doubt, RecursionError):  # an object that is nested too deeply
        return None
    return _digest("plan", text, _sizes(inputs), environment())


def key_of_graph(graph: GraphModule, inputs: Sequence[Tensor]) -> str | None:
    """The key of a traced graph; None where it holds something whose value cannot be told."""
    constants = dict(graph.named_buffers()) | dict(graph.named_parameters()) | _tensors(graph)
    if any(isinstance(constant, FakeTensor) for constant in constants.values()):
        return None
    return _digest("graph", graph.code, describe(constants), _sizes(inputs), environment())


def _tensors(graph: GraphModule) -> dict[str, Tensor]:
    return {name: value for name, value in vars(graph).items() if isinstance(value, Tensor)}


def _sizes(inputs: Sequence[Tensor]) -> str:
    return str([(str(tensor.dtype), tuple(tensor.shape), tensor.stride()) for tensor in inputs])


def _places(layout: Layout) -> list[Any]:
    return [[group.name, group.dtype, group.size, dict(group.offsets)] for group in layout.groups.values()]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n\n".join([str(FORMAT), *texts]).encode()).hexdigest()


def environment() -> str:
    """What a program depends on beside what it computes: versions, the processor, threads, settings of inductor."""
    # Where inductor works it writes there by itself, and says nothing.
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
            np.__version__,
            _sources(),
            _processor(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.get_float32_matmul_precision(),
            torch.are_deterministic_algorithms_enabled(),
            settings,
        ]
    )


@cache
def _sources() -> str:
    """A digest of the sources that numerics come from."""
    import rlgraph.components
    import rlgraph.core
    import rlgraph.spaces

    digest = hashlib.sha256()
    ours = (rlgraph.spaces.__file__, rlgraph.core.__file__, rlgraph.components.__file__)
    for package in (*(Path(file).parent for file in ours), Path(__file__).parents[1]):
        for file in sorted(package.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def _processor() -> str:
    """The machine, and the instructions its processor has."""
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
