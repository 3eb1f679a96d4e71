"""Lowering to JAX: the emitted source is traced into one jitted function per segment.

The function is pure. It takes the groups and streams that the segment touches and the segment's inputs, and returns
the outputs and new values of all that is written; which these are, the build has found out (`plan.built.effects`).

No memory is donated to the program: a segment that only reads takes no lock, and may look at a value that another
thread is just replacing.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from rlgraph.core import ExecutionSpec, PerformanceWarning, SpecError
from rlgraph.core.backend import Backend
from rlgraph.core.graph import Plan, Segment
from rlgraph.core.graph.emission import Dialect, Transform, emit_segment
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.handle import value_of
from rlgraph.core.storage import Storage
from rlgraph_jax import regions
from rlgraph_jax.ops import JaxOps
from rlgraph_jax.state import SegmentState, Values
from rlgraph_jax.storage import JaxStorage

#: What comes in becomes an array, what goes out is no handle; arrays never change, so nothing else needs a copy.
DIALECT = Dialect(
    receive="asarray({})".format,
    give="value_of({})".format,
    copy="value_of({})".format,
    namespace={"asarray": jnp.asarray, "value_of": value_of},
)

#: What JAX raises where a program depends on values that are not known while it is traced.
NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)

Pure = Callable[..., tuple[tuple[jax.Array, ...], Values]]


class JaxBackend(Backend):
    """Jitted programs: a segment is compiled once for every combination of input shapes it meets."""

    def __init__(self, execution: ExecutionSpec):
        super().__init__(execution)
        self.compiler_options = compiler_options(execution.threads)
        self.devices = frozenset({jax.default_backend()})  # JAX places everything there
        self.ops = JaxOps(execution.dtype)

    def create_storage(
        self, layout: Layout, variables: Mapping[str, Variable]
    ) -> JaxStorage:
        return JaxStorage(layout, variables, self.execution.seed)

    def lower(
        self, plan: Plan, segment: Segment, storage: Storage
    ) -> Callable[..., tuple[np.ndarray, ...]]:
        assert isinstance(storage, JaxStorage)
        written = sorted(segment.writes | segment.streams)
        touched = sorted(segment.reads | segment.writes | segment.streams)
        compute = self.compiled(self.pure(plan, segment, storage, written))
        homes = {name: storage.home(name) for name in touched}

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            if (
                written
            ):  # the call may return before JAX has looked at what it was given
                arrays = tuple([array.copy() for array in arrays])
            with jax.enable_x64(True):
                outputs, left = compute(
                    {name: homes[name][name] for name in touched}, *arrays
                )
                for name, value in left.items():
                    homes[name][name] = value
            return tuple([np.array(output) for output in outputs])

        return run

    def pure(
        self, plan: Plan, segment: Segment, storage: JaxStorage, written: list[str]
    ) -> Pure:
        """``f(values, *inputs) -> (outputs, new values)`` of a segment."""
        state = SegmentState(plan.built.layout)
        linker = self.linker(
            storage,
            state.handle,
            state.block,
            Transform(state.differentiate),
            stream=state.stream,
            loop=partial(regions.loop, state),
            branch=partial(regions.branch, state),
        )
        function = emit_segment(plan, segment, DIALECT, linker).compile()
        one_at_a_time = threading.Lock()

        def program(values: Values, *inputs: jax.Array) -> Any:
            with one_at_a_time, state.holding(values):
                outputs = function(*inputs)
                return outputs, {name: state.values[name] for name in written}

        program.__name__ = program.__qualname__ = function.__name__
        return program

    def compiled(self, program: Pure) -> Pure:
        """`program` jitted; if JAX cannot compile it, it runs operation by operation."""
        jitted: Pure = jax.jit(program, compiler_options=self.compiler_options)
        compute = jitted

        def by_operations(*args: Any) -> Any:
            with jax.disable_jit():
                return program(*args)

        def run(*args: Any) -> Any:
            nonlocal compute
            tried = compute
            try:
                return tried(*args)
            except NEEDS_VALUES as error:
                if tried is not jitted:
                    raise
                compute = by_operations
                warnings.warn(
                    f"{program.__name__} cannot be compiled by JAX: it depends on values that only run time knows "
                    f"({type(error).__name__}). It runs operation by operation, many times slower. Loops of a fixed "
                    "count, and operations other than boolean_mask, can be compiled.",
                    PerformanceWarning,
                    stacklevel=2,
                )
                return by_operations(*args)

        return run


def compiler_options(threads: int | None) -> dict[str, bool] | None:
    """XLA's options for this number of threads.

    Raises:
        SpecError: it is neither 1 nor None: XLA takes all cores of the process or one.
    """
    if threads not in (None, 1):
        raise SpecError(
            "JAX computes with one thread or with as many as the process has cores; expected "
            f"1 or null, given {threads}",
            path="execution_spec.threads",
        )
    return {"xla_cpu_multi_thread_eigen": False} if threads == 1 else None
