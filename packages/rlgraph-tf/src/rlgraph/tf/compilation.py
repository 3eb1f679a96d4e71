"""Compilation by XLA: what gains by it, and what becomes of a program that XLA refuses.

A program is traced as a plain graph; the compiled one calls it. So the plain one is there if XLA, which compiles at the
first call with arrays of new shapes, does not know an operation.
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

#: Operations whose time XLA shortens: it fuses what stands around products, and leaves out the ways between them.
PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
#: With a convolution there is nothing to be gained on a processor: its time is in the convolution.
CONVOLUTIONS = ("Conv", "DepthwiseConv")
#: What cannot be in a compiled program: XLA leaves checks of values out, which then find nothing.
UNFIT = {
    "PyFunc": "it calls Python",
    "PyFuncStateless": "it calls Python",
    "EagerPyFunc": "it calls Python",
    "Assert": "a loop that collects checks how often it runs",
}

#: What choices say of a program.
COMPILED, PLAIN = "xla", "graph"

_REFUSALS = (
    tf.errors.InvalidArgumentError,
    tf.errors.UnimplementedError,
    tf.errors.NotFoundError,
    tf.errors.InternalError,
)


def why_not(concrete: Any, *, wanted: bool, processor: bool) -> str | None:
    """Why a program is not to be compiled; None: it is.

    Args:
        concrete: its ConcreteFunction.
        wanted: the user asks for it, whether it gains by it or not.
        processor: it runs on a CPU.
    """
    kinds = set(_operation_types(concrete))
    for kind in UNFIT.keys() & kinds:
        return UNFIT[kind]
    if wanted:
        return None
    if processor and any(kind.startswith(CONVOLUTIONS) for kind in kinds):
        return "convolutions"
    return None if kinds & PRODUCTS else "no matrix products"


def _operation_types(concrete: Any) -> Iterator[str]:
    """The types of all operations, those inside of loops and branches too."""
    graph = concrete.graph.as_graph_def()
    yield from (node.op for node in graph.node)
    for function in graph.library.function:
        yield from (node.op for node in function.node_def)


def xla_context() -> AbstractContextManager[Any]:
    """Around the tracing of what XLA is to compile: the derivative of a loop takes shapes where XLA knows them.

    Elsewhere TensorFlow keeps them on a list from the way forward, and XLA refuses to compile what depends on them. The
    context is what `tf.function(jit_compile=True)` traces in (private); the operations are the same.
    """
    try:
        from tensorflow.python.eager.polymorphic_function.polymorphic_function import OptionalXlaContext
    except ImportError:  # a program that XLA refuses runs as a graph
        return nullcontext()
    context: AbstractContextManager[Any] = OptionalXlaContext(True)
    return context


def compiled(concrete: Any, specs: Sequence[tf.TensorSpec]) -> Any:
    """A ConcreteFunction that is compiled, of one that is not."""
    function = tf.function(lambda *tensors: concrete(*tensors), autograph=False, jit_compile=True)
    return function.get_concrete_function(*specs)


def unless_refused(program: Program, plain: Program, name: str, refused: Callable[[str], None]) -> Program:
    """`program`, or for good `plain` once XLA has refused to compile it.

    Args:
        program: compiled; XLA refuses before anything was computed or written.
        plain: the same, not compiled.
        name: for the warning.
        refused: is told why.
    """
    run = program

    def call(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        nonlocal run
        try:
            return run(*arrays)
        except _REFUSALS as error:
            if run is plain:
                raise
            # If it is the arrays that are wrong, this fails too, and XLA may try again.
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
