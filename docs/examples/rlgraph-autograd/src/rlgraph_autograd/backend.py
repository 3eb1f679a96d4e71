"""Lowering to Autograd: the emitted source is the program; variables become boxes where a slice is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rlgraph.core import ExecutionSpec
from rlgraph.core.backend import Backend
from rlgraph.core.graph import Plan, Segment
from rlgraph.core.graph.emission import Dialect, Tape, emit_segment
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.numpy.backend import NumpyStorage
from rlgraph.core.storage import Storage
from rlgraph_autograd.ops import TapedOps, plain
from rlgraph_autograd.tape import Arrays, recording

DIALECT = Dialect(
    receive="{}".format,
    give="array({})".format,
    copy="copied({})".format,
    detach="plain({})".format,
    index="array({})".format,
    before=("was_recording = recording.get()",),
    enter_slice=("recording.set(True)",),
    leave_slice=("recording.set(False)",),
    after=("recording.set(was_recording)",),
    namespace={
        "array": lambda value: np.array(plain(value)),
        "copied": lambda value: (
            value + 0 if type(value) is not np.ndarray else value.copy()
        ),
        "plain": plain,
        "recording": recording,
        "was_recording": None,
    },
)


class AutogradBackend(Backend):
    """NumPy's storage, streams and operations, with derivatives."""

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        self.ops = TapedOps(execution.dtype)

    def create_storage(
        self, layout: Layout, variables: Mapping[str, Variable]
    ) -> NumpyStorage:
        return NumpyStorage(layout, variables, self.execution.seed)

    def lower(
        self, plan: Plan, segment: Segment, storage: Storage
    ) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, NumpyStorage)
        arrays = Arrays(storage)
        linker = self.linker(
            storage, arrays.handle, arrays.block, Tape(arrays.gradients)
        )
        return emit_segment(plan, segment, DIALECT, linker).compile()
