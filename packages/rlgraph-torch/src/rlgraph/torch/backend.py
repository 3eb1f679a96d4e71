"""Lowering to PyTorch: the emitted source runs as it is, with gradients recorded only where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from rlgraph.core.backend import Backend, Storage
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.graph.emission import Dialect, Linker, emit_segment
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.torch import devices
from rlgraph.torch.kernels import KERNELS
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.storage import TorchStorage


def to_tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor that shares the memory of `array` where torch allows it: not read-only, no negative strides."""
    try:
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    except ValueError:
        return torch.from_numpy(array.copy())


# Never `inference_mode`: a tensor made there fails in a later gradient, in some networks only.
DIALECT = Dialect(
    # What nearly always arrives costs no call of `to_tensor`: writeable, aligned and contiguous.
    receive="(from_numpy({0}) if {0}.flags.carray else to_tensor({0}))".format,
    give=lambda text, sliced: f"{text}.detach().numpy()" if sliced else f"{text}.numpy()",
    before=("was_recording = is_grad_enabled()", "set_grad_enabled(False)"),
    after=("set_grad_enabled(was_recording)",),
    enter_slice=("set_grad_enabled(True)",),
    leave_slice=("set_grad_enabled(False)",),
    copy="{}.clone()".format,
    index="tensor({})".format,
    detach="{}.detach()".format,
    namespace={
        "from_numpy": torch.from_numpy,
        "to_tensor": to_tensor,
        "tensor": torch.tensor,
        "is_grad_enabled": torch.is_grad_enabled,
        "set_grad_enabled": torch._C._set_grad_enabled,
        "was_recording": None,
    },
)

#: Where something is on a GPU: tensors come and go as arrays all the same.
PLACED_DIALECT = replace(
    DIALECT,
    give=lambda text, sliced: f"{text}.detach().cpu().numpy()" if sliced else f"{text}.cpu().numpy()",
    arrive="{}.to({!r})".format,
)


class TorchBackend(Backend):
    """Define-by-run: a segment is a straight-line Python function of torch calls."""

    name = "torch"
    capabilities = frozenset({"gradients"})
    default_device = devices.CPU
    kernels = KERNELS

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        self.devices = devices.device_names()
        self.ops = TorchOps(execution.dtype)
        if execution.threads is not None:
            torch.set_num_threads(execution.threads)

    def device_name(self, name: str) -> str:
        return devices.device_name(name)

    def create_storage(self, layout: Layout, variables: Mapping[str, Variable]) -> TorchStorage:
        return TorchStorage(layout, variables, self.execution.seed)

    def lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, TorchStorage)
        placed = devices.is_placed(plan)
        linker = Linker(
            self.name,
            self.ops,
            self.kernels,
            storage.handle,
            storage.block,
            partial(storage.gradients, placed=True) if placed else storage.gradients,
            self.execution.use_kernels,
            storage.tensor_stream,
            place=devices.placer(self.execution.dtype) if placed else None,
        )
        return emit_segment(plan, segment, PLACED_DIALECT if placed else DIALECT, linker).compile()
