"""Lowering to TensorFlow: the emitted source is traced into one ConcreteFunction per segment."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core.tensorflow_log import startup_log_hidden

with startup_log_hidden():
    import tensorflow as tf

from rlgraph.core.backend import Backend
from rlgraph.core.errors import SpecError
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.export import ExportedMethod
from rlgraph.core.graph.emission import Dialect, Tape, emit_segment
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.graph.plan import Plan, Segment, receives_derivatives
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.core.storage import Storage
from rlgraph.tf import compilation, devices, regions
from rlgraph.tf.calls import conversion, numpy_program
from rlgraph.tf.derivatives import standard_derivatives
from rlgraph.tf.export import save
from rlgraph.tf.kernels import KERNELS
from rlgraph.tf.modes import eager_only
from rlgraph.tf.ops import TfOps
from rlgraph.tf.profiling import ScopedLinker, profile
from rlgraph.tf.random import Stream
from rlgraph.tf.storage import TfStorage
from rlgraph.tf.variables import SegmentVariables

_log = logging.getLogger(__name__)

# Arrays become tensors outside the traced function; a later write never changes a value that was read.
DIALECT = Dialect(
    receive="{}".format,
    give="{}".format,
    copy="{}".format,
    detach="stop_gradient({})".format,
    namespace={"stop_gradient": tf.stop_gradient},
)


class TfBackend(Backend):
    """Static graphs: a segment is traced once, for all sizes of its inputs, and called directly afterwards."""

    name = "tf"
    capabilities = frozenset({"gradients"})
    kernels = KERNELS

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        set_threads(execution.threads)
        self.gpus = tf.config.list_physical_devices("GPU")
        let_memory_grow(self.gpus)
        # One thread runs a program faster if it need not look for parallel work.
        self.single_threaded = execution.threads == 1 and not self.gpus
        self.devices = devices.device_names()
        self.ops = TfOps(execution.dtype)

    def device_name(self, name: str) -> str:
        return devices.device_name(name)

    @eager_only
    def create_storage(self, layout: Layout, variables: Mapping[str, Variable]) -> TfStorage:
        return TfStorage(layout, variables, self.execution.seed)

    @eager_only
    def receive(self, plan: Plan) -> Callable[[np.ndarray], tf.Tensor]:
        return conversion()

    @eager_only
    def lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        return eager_only(self._lower(plan, segment, storage))

    def _lower(self, plan: Plan, segment: Segment, storage: Storage) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, TfStorage)
        # Devices wait for each other, which needs more than one thread.
        single_threaded = self.single_threaded and not devices.is_placed(plan)
        make = partial(
            numpy_program,
            inputs=len(segment.inputs),
            single_threaded=single_threaded,
            kept=tuple(
                [i for i, (leaf, _) in enumerate(side) if leaf in plan.kept]
                for side in (segment.inputs, segment.outputs)
            ),
        )
        handed_out = storage.to_hand_out(segment.writes)
        if handed_out:
            make = partial(
                make, last=len(handed_out), take_last=partial(_keep, storage.handed_out, handed_out)
            )
        if not self.compiles(plan, segment):
            return make(self.trace(plan, segment, storage, hand_out=handed_out))
        concrete = self.trace(plan, segment, storage, compiled=True, hand_out=handed_out)
        name = plan.name if len(plan.segments) == 1 else f"{plan.name}/{segment.name}"
        if self._choose(name, plan, segment, concrete) != compilation.COMPILED:
            return make(self.trace(plan, segment, storage, hand_out=handed_out))
        _log.info("%s is compiled by XLA in its first call, which takes some seconds", name)
        specs = [tensor_spec(spec) for _, spec in segment.inputs]
        program = make(compilation.compiled(concrete, specs))
        return compilation.unless_refused(program, make(concrete), name, partial(self._note_refusal, name))

    def _choose(self, name: str, plan: Plan, segment: Segment, concrete: Any) -> str:
        """Whether to compile a program: by the recorded choice, the user's setting, or the rule."""
        key = f"compile:{name}"
        if key not in self.choices:
            wanted = self.execution.compile is not True
            cut = bool(plan.collectives) or receives_derivatives(plan, segment)
            reason = compilation.why_not(concrete, wanted=wanted, cut=cut, processor=not self.gpus)
            if devices.is_placed(plan):
                reason = "devices are given"
            self.choices[key] = f"{compilation.PLAIN} ({reason})" if reason else compilation.COMPILED
        return self.choices[key]

    def _note_refusal(self, name: str, reason: str) -> None:
        self.choices[f"compile:{name}"] = f"{compilation.PLAIN} ({reason})"

    def trace(
        self,
        plan: Plan,
        segment: Segment,
        storage: TfStorage,
        *,
        compiled: bool = False,
        hand_out: Sequence[str] = (),
    ) -> Any:
        """The ConcreteFunction that computes `segment`.

        Args:
            plan, segment: the segment.
            storage: the variables.
            compiled: trace for XLA.
            hand_out: groups whose final values are additional outputs at the end.
        """
        specs = [tensor_spec(spec) for _, spec in segment.inputs]
        function = self.traceable(plan, segment, storage.groups, storage.tensor_stream, compiled=compiled)

        def returning(*tensors: tf.Tensor) -> Any:
            return [*(function(*tensors) or ()), *(storage.groups[name].read_value() for name in hand_out)]

        traced = returning if hand_out else function
        if devices.is_placed(plan):
            traced = devices.on_device(traced, devices.only_device(plan))
        traced.__name__ = function.__name__
        return tf.function(traced, autograph=False).get_concrete_function(*specs)

    def traceable(
        self,
        plan: Plan,
        segment: Segment,
        groups: Mapping[str, tf.Variable],
        stream: Callable[[str], Stream],
        host: Callable[[GraphFunctionCall], Callable[..., Any]] | None = None,
        *,
        compiled: bool = False,
    ) -> Callable[..., tuple[tf.Tensor, ...]]:
        """The tensor function that computes `segment`, for tracing.

        Args:
            plan, segment: the segment.
            groups: the variables that hold the groups.
            stream: returns the random stream of a name.
            host: returns a function that calls a host function.
            compiled: trace for XLA, for which some operations differ.
        """
        placed = devices.is_placed(plan)
        variables = SegmentVariables(plan.built.layout, groups, placed)
        ops = copy(self.ops)
        ops.compiled = compiled
        linker = ScopedLinker(
            variables.handle,
            variables.block,
            Tape(variables.gradients),
            backend=self.name,
            ops=ops,
            kernels=self.kernels,
            use_kernels=self.execution.use_kernels,
            stream=stream,
            loop=partial(regions.loop, variables),
            branch=partial(regions.branch, variables),
            place=devices.place if placed else None,
            host=host,
        )
        function = emit_segment(plan, segment, DIALECT, linker).compile()

        def traced(*tensors: tf.Tensor) -> Any:
            with compilation.xla_context() if compiled else nullcontext():
                try:
                    return function(*tensors)
                finally:
                    variables.reset()

        traced.__name__ = function.__name__  # TensorFlow's messages name the function
        return traced

    # Export.

    exports = frozenset({"writes", "draws", "gradients"})

    @eager_only
    def export(self, methods: Sequence[ExportedMethod], storage: Storage, directory: Path) -> None:
        """As a SavedModel with one signature per method (see `rlgraph.tf.export`)."""
        assert isinstance(storage, TfStorage)
        with standard_derivatives():
            concretes = {method.name: self.trace(method.plan, method.segment, storage) for method in methods}
        save(methods, concretes, storage, directory)

    def profile(self, path: Path) -> AbstractContextManager[None]:
        return profile(path)


def _keep(kept: dict[str, Any], names: Sequence[str], tensors: Sequence[Any]) -> None:
    kept.update(zip(names, tensors, strict=True))


def tensor_spec(spec: TensorSpec) -> tf.TensorSpec:
    """The `tf.TensorSpec` of a spec; sizes that are not fixed are None."""
    return tf.TensorSpec(regions.open_shape(spec), spec.dtype)


def set_threads(threads: int | None) -> None:
    """Set the threads of TensorFlow's operations; None keeps its own setting.

    Raises:
        SpecError: TensorFlow has started with another number, which cannot change any more.
    """
    settings = tf.config.threading
    given = (settings.get_inter_op_parallelism_threads(), settings.get_intra_op_parallelism_threads())
    if threads is None or given == (threads, threads):
        return
    try:
        settings.set_inter_op_parallelism_threads(threads)
        settings.set_intra_op_parallelism_threads(threads)
    except RuntimeError:
        raise SpecError(
            f"TensorFlow is running with {given[0]} threads between and {given[1]} within "
            f"operations (0: its own choice) and cannot change to {threads}; set the threads of the first graph "
            "executor of the process, before anything else uses TensorFlow, or set null to keep the present number",
            path="execution_spec.threads",
        ) from None


def let_memory_grow(gpus: Sequence[Any]) -> None:
    """Allocate GPU memory only as needed, so that others can use the same GPU."""
    for gpu in gpus:
        try:
            tf.config.experimental.set_memory_growth(gpu, True)
        except RuntimeError:  # TensorFlow is running already with another setting
            return
