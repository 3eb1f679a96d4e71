"""Compilation by XLA: which programs are compiled, and the fallback if XLA refuses one.

A program is traced as a plain graph, and the compiled program calls it. XLA compiles at the first call with new shapes;
if it does not support an operation, the plain graph runs instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import tensorflow as tf

from rlgraph.core.errors import PerformanceWarning
from rlgraph.tf.calls import Program

#: Operations that XLA speeds up: it fuses the operations around products and removes overhead between them.
PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
#: A CPU gains nothing with convolutions, which take most of the time.
CONVOLUTIONS = ("Conv", "DepthwiseConv")
#: Operations that a compiled program cannot have: XLA removes checks of values.
UNFIT = {
    "PyFunc": "it calls Python",
    "PyFuncStateless": "it calls Python",
    "EagerPyFunc": "it calls Python",
    "Assert": "a loop that collects checks how often it runs",
}

#: Values of a program's choice.
COMPILED, PLAIN = "xla", "graph"

_REFUSALS = (
    tf.errors.InvalidArgumentError,
    tf.errors.UnimplementedError,
    tf.errors.NotFoundError,
    tf.errors.InternalError,
)


def why_not(concrete: Any, *, wanted: bool, processor: bool, cut: bool = False) -> str | None:
    """Why a program is not compiled; None if it is.

    Args:
        concrete: its ConcreteFunction.
        wanted: the user named it, so it is compiled even without a gain.
        processor: it runs on a CPU.
        cut: it is a part of what would be one program, with products elsewhere.
    """
    kinds = set(_operation_types(concrete))
    for kind in UNFIT.keys() & kinds:
        return UNFIT[kind]
    if wanted:
        return None
    if processor and any(kind.startswith(CONVOLUTIONS) for kind in kinds):
        return "convolutions"
    return None if cut or kinds & PRODUCTS else "no matrix products"


def _operation_types(concrete: Any) -> Iterator[str]:
    """The types of all operations, including those inside loops and branches."""
    graph = concrete.graph.as_graph_def()
    yield from (node.op for node in graph.node)
    for function in graph.library.function:
        yield from (node.op for node in function.node_def)


def xla_context() -> AbstractContextManager[Any]:
    """Context for tracing programs for XLA, so that derivatives of loops use shapes that XLA knows.

    Otherwise TensorFlow keeps the shapes in a list of the forward pass, which XLA cannot compile. It is the private
    context of `tf.function(jit_compile=True)`; the operations are the same.
    """
    try:
        from tensorflow.python.eager.polymorphic_function.polymorphic_function import OptionalXlaContext
    except ImportError:  # a program that XLA refuses runs as a graph
        return nullcontext()
    context: AbstractContextManager[Any] = OptionalXlaContext(True)
    return context


def compiled(concrete: Any, specs: Sequence[tf.TensorSpec]) -> Any:
    """A compiled ConcreteFunction that calls a plain one."""
    function = tf.function(lambda *tensors: concrete(*tensors), autograph=False, jit_compile=True)
    return function.get_concrete_function(*specs)


def unless_refused(program: Program, plain: Program, name: str, refused: Callable[[str], None]) -> Program:
    """`program`, replaced permanently by `plain` once XLA refuses to compile it.

    Args:
        program: the compiled program; XLA refuses before it computes or writes anything.
        plain: the same, not compiled.
        name: for the warning.
        refused: called with the reason.
    """
    run = program

    def call(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        nonlocal run
        try:
            return run(*arrays)
        except _REFUSALS as error:
            if run is plain:
                raise
            # If the arrays are wrong, this fails too, and XLA may try again.
            results = plain(*arrays)
            run = plain
            reason = str(error).splitlines()[0][:300]
            refused(reason)
            warnings.warn(
                f"{name} is not compiled and runs as a graph: XLA says: {reason}",
                PerformanceWarning,
                stacklevel=3,
            )
            return results

    return call
