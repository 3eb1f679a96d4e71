"""Lowering to PyTorch: the emitted source is the program; gradients are recorded only where needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rlgraph.core.backend import Backend
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.export import ExportedMethod
from rlgraph.core.graph.emission import Dialect, Linker, Tape, emit_segment
from rlgraph.core.graph.nodes import Gradients, GraphFunctionCall, walk_nodes
from rlgraph.core.graph.plan import Plan, Segment, receives_derivatives
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.storage import Storage
from rlgraph.torch import devices
from rlgraph.torch.kernels import KERNELS
from rlgraph.torch.modes import in_own_modes, program_in_own_modes
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.profiling import Profiler
from rlgraph.torch.storage import TorchStorage
from rlgraph.torch.transfers import CPU, Fetch, sent

if TYPE_CHECKING:
    from rlgraph.torch.compile.program import Compiler


def to_tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor that shares the memory of `array` where torch allows it: not read-only, no negative strides."""
    try:
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    except ValueError:
        return torch.from_numpy(array.copy())


# Not `inference_mode`: its tensors fail in a later gradient, in some networks only.
DIALECT = Dialect(
    # Typical arrays (writeable, aligned, contiguous) need no call of `to_tensor`.
    receive="(from_numpy({0}) if {0}.flags.carray else to_tensor({0}))".format,
    give="{}.numpy()".format,
    before=("was_recording = is_grad_enabled()", "set_grad_enabled(False)"),
    after=("set_grad_enabled(was_recording)",),
    enter_slice=("set_grad_enabled(True)",),
    leave_slice=("set_grad_enabled(False)",),
    copy="{}.clone()".format,
    index="scalar_tensor({}, dtype=int64)".format,
    detach="{}.detach()".format,
    namespace={
        "from_numpy": torch.from_numpy,
        "to_tensor": to_tensor,
        "scalar_tensor": torch.scalar_tensor,
        "int64": torch.int64,
        "is_grad_enabled": torch.is_grad_enabled,
        "set_grad_enabled": torch._C._set_grad_enabled,
        "was_recording": None,
    },
)

#: For segments without anything that could record derivatives.
QUIET_DIALECT = replace(DIALECT, before=(), after=())

#: For plans with something on a GPU: the outputs are tensors, which are fetched together.
PLACED_DIALECT = replace(
    DIALECT, give="{}".format, arrive="sent([{}], {!r})".format, namespace={**DIALECT.namespace, "sent": sent}
)


def keeping_copies(dialect: Dialect) -> Dialect:
    """A dialect of segments in which a function that is differentiated writes what it has read.

    Variables are written in place, so what the tape keeps for the way back is copied.
    """
    return replace(
        dialect,
        before=(*dialect.before, "copies = ExitStack()"),
        enter_slice=(*dialect.enter_slice, "copies.enter_context(saved_tensors_hooks(copied, same))"),
        leave_slice=("copies.close()", *dialect.leave_slice),
        after=("copies.close()", *dialect.after),
        namespace={
            **dialect.namespace,
            "copies": None,
            "ExitStack": ExitStack,
            "saved_tensors_hooks": torch.autograd.graph.saved_tensors_hooks,
            "copied": lambda tensor: tensor.detach().clone(),
            "same": lambda tensor: tensor,
        },
    )


def placed_dialect(used: Collection[str]) -> Dialect:
    """The dialect of a segment on these devices. On one alone, iterations of loops send no numbers."""
    if len(used) != 1:
        return PLACED_DIALECT
    (device,) = used
    return replace(PLACED_DIALECT, index=f"scalar_tensor({{}}, dtype=int64, device={device!r})".format)


def fetched(compute: Callable[..., Sequence[torch.Tensor]]) -> Callable[..., tuple[np.ndarray, ...]]:
    """A function whose results are fetched."""
    return lambda *arrays: Fetch(compute(*arrays)).arrays()


def records_nothing(plan: Plan, segment: Segment) -> bool:
    """Whether a segment computes only with its inputs and variables and takes no derivatives.

    A declared kernel may have other parameters.
    """
    components = plan.built.graph.components
    return not any(
        isinstance(node, Gradients)
        or (
            isinstance(node, GraphFunctionCall)
            and components[node.component].graph_function(node.function).kernels
        )
        for node in walk_nodes(segment.nodes)
    )


def overwrites_what_is_differentiated(plan: Plan, segment: Segment) -> bool:
    """Whether a graph function from which a loss is computed writes a variable that it has read."""
    inside = frozenset[int]().union(*plan.slices.values())
    return any(node.id in inside and plan.built.effects[node.id].hazard for node in walk_nodes(segment.nodes))


class TorchBackend(Backend):
    """Define-by-run: a segment is a straight-line Python function of torch calls."""

    name = "torch"
    capabilities = frozenset({"gradients"})
    default_device = CPU
    kernels = KERNELS
    exports = frozenset()  # reads of variables, nothing else

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        self.devices = devices.device_names()
        self.ops = TorchOps(execution.dtype)
        if execution.threads is not None:
            torch.set_num_threads(execution.threads)
        self._compiler: Compiler | None = None
        self._profiler = Profiler()

    def compiles(self, plan: Plan, segment: Segment) -> bool:
        """Compile updates. Small inference plans gain nothing, so they are compiled only if named."""
        if self.execution.compile is True:
            takes_some = any(node.id in plan.slices for node in walk_nodes(segment.nodes))
            return takes_some or receives_derivatives(plan, segment)
        return super().compiles(plan, segment)

    def device_name(self, name: str) -> str:
        return devices.device_name(name)

    def create_storage(self, layout: Layout, variables: Mapping[str, Variable]) -> TorchStorage:
        return TorchStorage(layout, variables, self.execution.seed)

    def receive(self, plan: Plan) -> Callable[[np.ndarray], torch.Tensor] | None:
        return None if devices.is_placed(plan) else in_own_modes(to_tensor)

    @in_own_modes
    def lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        return program_in_own_modes(self._lower(plan, segment, storage), len(segment.inputs))

    def _lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, TorchStorage)
        placed = devices.is_placed(plan)
        place = devices.placer(self.ops) if placed else None
        linker = self.linker(
            storage,
            storage.handle,
            storage.block,
            Tape(partial(storage.gradients, placed=placed)),
            place=place,
        )

        def emit(part: Segment, dialect: Dialect, linker: Linker = linker) -> Callable[..., tuple[Any, ...]]:
            return self._profiler.watch(
                emit_segment(plan, part, dialect, linker).compile(), dialect.namespace
            )

        dialect = placed_dialect(devices.devices_of(plan, segment)) if placed else DIALECT
        overwrites = overwrites_what_is_differentiated(plan, segment)
        if overwrites:  # a compiler would not copy
            dialect = keeping_copies(dialect)
        if placed:
            eager = fetched(emit(segment, dialect))
        if overwrites or not self.compiles(plan, segment):
            if placed:
                return eager
            if records_nothing(plan, segment):
                return emit(segment, QUIET_DIALECT, replace(linker, handle=storage.value))
            return emit(segment, dialect)
        if self._compiler is None:
            from rlgraph.torch.compile.program import Compiler  # slow to import

            self._compiler = Compiler(DIALECT, self.execution.dtype, self.choices, self._profiler)
        if placed:
            from rlgraph.torch.compile.tracing import tracing_dialect

            # Some native kernels read values, and a program that waits for the GPU cannot be recorded.
            plain = replace(linker, use_kernels=False)
            compute = emit(segment, tracing_dialect(dialect), plain)
            return self._compiler.record(plan, segment, storage, eager, compute)
        return self._compiler.lower(plan, segment, storage, emit)

    def export(self, methods: Sequence[ExportedMethod], storage: Storage, directory: Path) -> None:
        from rlgraph.torch.export import export_programs  # slow to import

        assert isinstance(storage, TorchStorage)
        export_programs(methods, storage, directory)

    def profile(self, path: Path) -> AbstractContextManager[None]:
        return self._profiler.profile(path)
