"""A segment that is compiled when it is first called, for the sizes of that call."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

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
from rlgraph.torch.compile.key import key_of_graph, key_of_plan
from rlgraph.torch.compile.tracing import Inputs, Tracer, tracing_dialect
from rlgraph.torch.devices import is_placed
from rlgraph.torch.profiling import Profiler
from rlgraph.torch.random import DRAWS
from rlgraph.torch.storage import TorchStorage

Lowered = Callable[..., tuple[np.ndarray, ...]]


class NotCompiled(Exception):
    """Why a segment runs as it was emitted."""


class Compiler:
    """Compiles the segments of one executor.

    Args:
        dialect: how the backend emits segments.
        float_dtype: the execution's floating dtype.
        choices: where it is written down what became of a method, and where it says so already.
        profiler: shows compiled programs in profiles.
    """

    def __init__(self, dialect: Dialect, float_dtype: str, choices: dict[str, str], profiler: Profiler):
        self.dialect, self.float_dtype, self.choices = dialect, float_dtype, choices
        self.profiler = profiler
        self.cache = Cache(cache_folder())

    def lower(self, plan: Plan, segment: Segment, storage: TorchStorage, eager: Lowered) -> Lowered:
        """A function that compiles the segment in its first call; `eager` is what it does for other sizes."""
        name = f"compile:{plan.name}" + (f":{segment.name}" if len(plan.segments) > 1 else "")
        if self.choices.get(name, "").startswith("eager"):
            return eager
        compiling = threading.Lock()
        current: Lowered | None = None

        def first(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            nonlocal current
            with compiling:
                if current is None:
                    try:
                        current, self.choices[name] = self._compile(plan, segment, storage, eager, arrays)
                    except NotCompiled as reason:
                        current, self.choices[name] = eager, f"eager: {reason}"
                        warnings.warn(
                            f"{plan.name} is not compiled: {reason}; it runs as it is, and slower",
                            RuntimeWarning,
                            stacklevel=3,
                        )
            return current(*arrays)

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            return (current or first)(*arrays)

        return run

    def _compile(
        self,
        plan: Plan,
        segment: Segment,
        storage: TorchStorage,
        eager: Lowered,
        arrays: Sequence[np.ndarray],
    ) -> tuple[Lowered, str]:
        tensors = [to_tensor(array) for array in arrays]
        tracer = Tracer(plan, segment, storage, self.dialect, self.float_dtype)
        if is_placed(plan):
            raise NotCompiled("something of it is on a GPU, and only the CPU is compiled for")
        key = key_of_plan(plan, segment, tracing_dialect(self.dialect), self.float_dtype, tensors)
        known = self.cache.find(key) if key else None
        if known is not None:
            library, inputs = known
            how, program = "aoti", load_library(library)
        else:
            how, program, inputs = self._make(tracer, storage, tensors, key)
        bordered = _bordered(plan, segment, storage, eager, arrays, program, inputs)
        return self.profiler.watch(bordered, ("from_numpy", "to_tensor", "eager")), how

    def _make(
        self, tracer: Tracer, storage: TorchStorage, tensors: Sequence[Tensor], key: str | None
    ) -> tuple[str, Program, Inputs]:
        try:
            traced = tracer.trace(tensors)
        except (
            Exception
        ) as error:  # whatever a user's function does that a tensor without a value does not allow
            raise NotCompiled(f"it cannot be traced ({_first_line(error)})") from error
        examples = [
            *(tensors[i] for i in traced.inputs.arrays),
            *(storage.groups[name] for name in traced.inputs.groups),
            *(torch.empty(d.shape, dtype=getattr(torch, d.dtype)) for d in traced.inputs.draws),
        ]
        key = key or key_of_graph(traced.graph, examples)
        known = self.cache.find(key) if key else None
        if known is not None:
            return "aoti", load_library(known[0]), traced.inputs
        if missing := missing_compiler():
            raise NotCompiled(f"there is no C++ compiler ({missing})")
        try:
            if traced.has_custom_operations or key is None:
                return "inductor", compile_here(traced.graph, examples, self.cache.folder), traced.inputs
            library = self.cache.store(key, traced.inputs, partial(compile_library, traced.graph, examples))
            return "aoti", load_library(library), traced.inputs
        except Exception as error:  # of a compiler that we do not know
            raise NotCompiled(f"the compiler failed ({_first_line(error)})") from error


def to_tensor(array: np.ndarray) -> Tensor:
    """A contiguous tensor, in the memory of `array` where torch allows it."""
    return torch.from_numpy(array if array.flags.carray else np.array(array, order="C"))


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _bordered(
    plan: Plan,
    segment: Segment,
    storage: TorchStorage,
    eager: Lowered,
    arrays: Sequence[np.ndarray],
    program: Program,
    inputs: Inputs,
) -> Lowered:
    """The function around a program: looks at the sizes, and makes tensors of arrays and arrays of tensors."""
    namespace = {"from_numpy": torch.from_numpy, "to_tensor": to_tensor, "eager": eager}
    function = SourceFunction(f"{plan.name}__{segment.name}__compiled", namespace=namespace)
    names = function.parameters = [function.local(leaf) for leaf, _ in segment.inputs]
    sizes = [
        f"{name}.shape != {array.shape}"
        for name, array, (_, spec) in zip(names, arrays, segment.inputs, strict=True)
        if any(isinstance(dim, SymbolicDim) for dim in spec.shape)
    ]
    if sizes:
        with function.block(f"if {' or '.join(sizes)}:"):
            function.lines.append(f"return eager({', '.join(names)})")
    given = [
        f"from_numpy({names[i]}) if {names[i]}.flags.carray else to_tensor({names[i]})" for i in inputs.arrays
    ]
    given += [function.bind("group", storage.groups[name]) for name in inputs.groups]
    for draw in inputs.draws:
        stream = storage.tensor_stream(draw.stream)
        drawn = partial(DRAWS[draw.kind], stream, draw.shape, getattr(torch, draw.dtype), *draw.parameters)
        given.append(function.bind(f"draw_{draw.kind}", drawn) + "()")
    name = function.bind(f"compiled_{identifier(plan.name, segment.name)}", program)
    call = f"{name}([{', '.join(given)}])"
    outputs = [function.local(leaf) for leaf, _ in segment.outputs]
    if outputs:
        function.lines.append(f"{', '.join(outputs)}{',' * (len(outputs) == 1)} = {call}")
        function.lines.append(f"return {', '.join(f'{name}.numpy()' for name in outputs)},")
    else:
        function.lines.extend([call, "return ()"])
    return function.compile()
