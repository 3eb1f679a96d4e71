"""Compiles a segment in its first call, for the sizes of that call."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlgraph.core.errors import PerformanceWarning, first_line
from rlgraph.core.graph.emission import Dialect, SourceFunction, identifier
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.torch.compile.cache import Cache, cache_folder
from rlgraph.torch.compile.compilers import (
    Program,
    compile_here,
    compile_library,
    load_library,
    missing_compiler,
)
from rlgraph.torch.compile.key import key_of_graph
from rlgraph.torch.compile.partition import compiled_pieces, cut, emit_pieces, segments_of
from rlgraph.torch.compile.recording import recorded, why_not
from rlgraph.torch.compile.tracing import Inputs, Traced, Tracer, tensor_of_array, tracing_dialect
from rlgraph.torch.profiling import Profiler
from rlgraph.torch.random import DRAWS
from rlgraph.torch.storage import TorchStorage

_log = logging.getLogger(__name__)

Lowered = Callable[..., tuple[Any, ...]]
Emit = Callable[[Segment, Dialect], Lowered]


@dataclass(frozen=True)
class Border:
    """Inputs and outputs of a program: arrays or tensors. Programs require contiguous tensors.

    Attributes:
        to_tensor: makes a contiguous tensor.
        receive: source code that converts a named input.
        give: source code that converts a named output.
        namespace: the names that this code uses.
    """

    to_tensor: Callable[[Any], Tensor]
    receive: Callable[[str], str]
    give: Callable[[str], str]
    namespace: Mapping[str, Any]


ARRAYS = Border(
    tensor_of_array,
    "from_numpy({0}) if {0}.flags.carray else to_tensor({0})".format,
    "{}.numpy()".format,
    {"from_numpy": torch.from_numpy, "to_tensor": tensor_of_array},
)
#: PyTorch's compiler has global state, so that a process compiles one program at a time.
_COMPILING = threading.RLock()

TENSORS = Border(torch.Tensor.contiguous, "{}.contiguous()".format, str, {})


class NotCompiled(Exception):
    """Why a segment runs uncompiled."""


class Compiler:
    """Compiles the segments of one executor.

    Args:
        dialect: how the backend emits segments.
        float_dtype: the execution's floating dtype.
        choices: records how each method was compiled; existing entries are followed.
        profiler: shows compiled programs in profiles.
    """

    def __init__(self, dialect: Dialect, float_dtype: str, choices: dict[str, str], profiler: Profiler):
        self.dialect, self.float_dtype, self.choices = dialect, float_dtype, choices
        self.profiler = profiler
        self._named: dict[str, str] = {}
        self.cache = Cache(cache_folder())

    def lower(self, plan: Plan, segment: Segment, storage: TorchStorage, emit: Emit) -> Lowered:
        """A function that compiles the segment, or each of its pieces with derivatives, in its first call.

        Args:
            plan, segment: the segment.
            storage: the variables.
            emit: makes the uncompiled function of a segment in a dialect; also used for calls of other sizes.
        """
        pieces = cut(plan, segment)
        if pieces == (segment,):
            eager = emit(segment, self.dialect)
            return self._lower(
                plan, segment, eager, partial(self._compile, plan, segment, storage, eager, ARRAYS)
            )
        dialect = tracing_dialect(self.dialect)
        lowered = {piece.name: emit(piece, dialect) for piece in segments_of(pieces)}
        for piece in compiled_pieces(pieces):
            eager = lowered[piece.name]
            lowered[piece.name] = self._lower(
                plan, piece, eager, partial(self._compile, plan, piece, storage, eager, TENSORS)
            )
        return self.profiler.watch(emit_pieces(plan, segment, pieces, lowered, self.dialect).compile())

    def record(
        self, plan: Plan, segment: Segment, storage: TorchStorage, eager: Lowered, compute: Lowered
    ) -> Lowered:
        """A function that records the segment as a CUDA graph in its first call.

        Args:
            plan, segment: the segment.
            storage: the variables.
            eager: runs the segment without a recording.
            compute: computes it with tensors on the GPU.
        """

        def make(arrays: Sequence[np.ndarray]) -> tuple[Lowered, str]:
            if reason := why_not(plan, segment):
                raise NotCompiled(reason)
            try:
                return recorded(plan, segment, storage, compute, eager, arrays), "cuda graph"
            except RuntimeError as error:
                raise NotCompiled(f"it cannot be recorded ({first_line(error)})") from error

        return self._lower(plan, segment, eager, make)

    def _leave(self, plan: Plan, name: str, reason: str, eager: Lowered) -> Lowered:
        if not self.choices.get(name, "").startswith("eager"):
            self.choices[name] = f"eager ({reason})"
            warnings.warn(
                f"{plan.name} is not compiled: {reason}; it runs uncompiled, which is slower",
                PerformanceWarning,
                stacklevel=4,
            )
        return eager

    def _name(self, plan: Plan, segment: Segment) -> str:
        """The name of a choice: that of the method for its first program."""
        name = f"compile:{plan.name}"
        if self._named.setdefault(name, segment.name) != segment.name:
            name = f"{name}/{segment.name}"
        return name

    def _lower(
        self,
        plan: Plan,
        segment: Segment,
        eager: Lowered,
        make: Callable[[Sequence[Any]], tuple[Lowered, str]],
    ) -> Lowered:
        """Calls the function that `make` returns for the first call's values; `eager` if that fails."""
        name = self._name(plan, segment)
        if self.choices.get(name, "").startswith("eager"):
            return eager
        current: Lowered | None = None

        def first(*values: Any) -> tuple[Any, ...]:
            nonlocal current
            with _COMPILING:
                if current is None:
                    try:
                        current, self.choices[name] = make(values)
                    except NotCompiled as error:
                        current = self._leave(plan, name, str(error), eager)
            return current(*values)

        def run(*values: Any) -> tuple[Any, ...]:
            return (current or first)(*values)

        return run

    def _compile(
        self,
        plan: Plan,
        segment: Segment,
        storage: TorchStorage,
        eager: Lowered,
        border: Border,
        values: Sequence[Any],
    ) -> tuple[Lowered, str]:
        # Copies: a trace would take two inputs for one where the first call happens to be given the same tensor twice.
        tensors = [_contiguous(value, border).clone() for value in values]
        try:
            traced = Tracer(plan, segment, storage, self.dialect, self.float_dtype).trace(tensors)
        except Exception as error:  # any error: user code may need the values of tensors
            raise NotCompiled(f"it cannot be traced ({first_line(error)})") from error
        how, program = self._program(plan.name, traced, storage, tensors)
        bordered = _bordered(plan, segment, storage, eager, border, values, program, traced.inputs)
        return self.profiler.watch(bordered, (*border.namespace, "eager")), how

    def _program(
        self, name: str, traced: Traced, storage: TorchStorage, tensors: Sequence[Tensor]
    ) -> tuple[str, Program]:
        """The program of the graph, from disk or new, and how it was made."""
        examples = [
            *(tensors[i] for i in traced.inputs.arrays),
            *(storage.groups[name] for name in traced.inputs.groups),
            *(torch.empty(d.shape, dtype=getattr(torch, d.dtype)) for d in traced.inputs.draws),
            *traced.inputs.constants,
        ]
        key = None if traced.has_custom_operations else key_of_graph(traced.graph, examples)
        if key and (library := self.cache.find(key)):
            return "inductor", _loaded(library)
        if missing := missing_compiler():
            raise NotCompiled(f"there is no C++ compiler ({missing})")
        often = "in each process" if key is None else "once for this machine and these sizes"
        _log.info("compiling %s by PyTorch: some 15 seconds, %s", name, often)
        folder = self.cache.folder / "inductor"
        try:
            if key is None:
                return "inductor (in each process)", compile_here(traced.graph, examples, folder)
            library = self.cache.store(key, partial(compile_library, traced.graph, examples, folder=folder))
            return "inductor", load_library(library)
        except Exception as error:  # any error: the compiler is third-party code
            raise NotCompiled(f"the compiler failed ({first_line(error)})") from error


def _loaded(library: Path) -> Program:
    """Load a program from disk."""
    try:
        return load_library(library)
    except Exception as error:  # e.g. a disk mounted without execute permission, or a missing system library
        raise NotCompiled(f"{library} cannot be loaded ({first_line(error)})") from error


def _contiguous(value: Any, border: Border) -> Tensor:
    """The tensor of an input: of an array, or of a tensor that stays one between segments."""
    return (TENSORS if isinstance(value, Tensor) else border).to_tensor(value)


def _bordered(
    plan: Plan,
    segment: Segment,
    storage: TorchStorage,
    eager: Lowered,
    border: Border,
    values: Sequence[Any],
    program: Program,
    inputs: Inputs,
) -> Lowered:
    """The function around a program: checks sizes, draws random numbers, converts inputs and outputs."""
    namespace = {**border.namespace, "eager": eager}
    function = SourceFunction(f"{plan.name}__{segment.name}__compiled", namespace=namespace)
    names = function.parameters = [function.local(leaf) for leaf, _ in segment.inputs]
    sizes = [
        f"{name}.shape != {tuple(value.shape)}"
        for name, value, (_, spec) in zip(names, values, segment.inputs, strict=True)
        if any(isinstance(dim, SymbolicDim) for dim in spec.shape)
    ]
    if sizes:
        with function.block(f"if {' or '.join(sizes)}:"):
            function.lines.append(f"return eager({', '.join(names)})")
    leaves = [leaf for leaf, _ in segment.inputs]
    given = [(TENSORS if leaves[i] in plan.kept else border).receive(names[i]) for i in inputs.arrays]
    given += [function.bind("group", storage.groups[name]) for name in inputs.groups]
    for draw in inputs.draws:
        stream = storage.tensor_stream(draw.stream)
        drawn = partial(DRAWS[draw.kind], stream, draw.shape, getattr(torch, draw.dtype), *draw.parameters)
        given.append(function.bind(f"draw_{draw.kind}", drawn) + "()")
    given += [function.bind("constant", constant) for constant in inputs.constants]
    name = function.bind(f"compiled_{identifier(plan.name, segment.name)}", program)
    call = f"{name}([{', '.join(given)}])"
    outputs = [function.local(leaf) for leaf, _ in segment.outputs]
    if outputs:
        function.lines.append(f"{', '.join(outputs)}{',' * (len(outputs) == 1)} = {call}")
        made = [
            name if leaf in plan.kept else border.give(name)
            for name, (leaf, _) in zip(outputs, segment.outputs, strict=True)
        ]
        function.lines.append(f"return {', '.join(made)},")
    else:
        function.lines.extend([call, "return ()"])
    return function.compile()
