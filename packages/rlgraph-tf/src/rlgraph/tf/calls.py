"""Calls of traced functions with NumPy arrays, by the fastest call path that this TensorFlow version supports.

For small networks the call of a ConcreteFunction costs more than its computation. There are three call paths, each
faster than the one before: the public call, the function inside it, and the runtime's entry. The two fast ones are not
public; they are tested once per process on functions with known results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

Program = Callable[..., tuple[np.ndarray, ...]]
Call = Callable[[list[Any]], Sequence[Any]]


class Way(Protocol):
    """Makes ``f(tensors) -> outputs`` from a ConcreteFunction."""

    def __call__(self, concrete: Any, /, *, single_threaded: bool) -> Call: ...


def numpy_program(
    concrete: Any,
    inputs: int,
    *,
    single_threaded: bool = False,
    last: int = 0,
    take_last: Callable[[Sequence[Any]], None] | None = None,
    kept: Sequence[Collection[int]] = ((), ()),
) -> Program:
    """A function of NumPy arrays that returns the outputs of a ConcreteFunction as NumPy arrays.

    Args:
        concrete: the ConcreteFunction.
        inputs: number of input arrays.
        single_threaded: run operations one after the other.
        last: number of outputs at the end that are not returned.
        take_last: receives these, as tensors.
        kept: positions of the inputs that come as tensors, and of the outputs that are returned as such.
    """
    call = shortest_way()(concrete, single_threaded=single_threaded)
    to_tensor = conversion()
    if any(kept):
        receive = [_same if i in kept[0] else to_tensor for i in range(inputs)]
        give = [_same if i in kept[1] else to_array for i in range(len(concrete.outputs) - last)]

        def keeping(*values: Any) -> tuple[Any, ...]:
            outputs = call([convert(x) for convert, x in zip(receive, values, strict=True)])
            if take_last is not None:
                take_last(outputs[len(give) :])
            return tuple([convert(x) for convert, x in zip(give, outputs, strict=False)])

        return keeping
    if take_last is not None:
        returned = len(concrete.outputs) - last

        def taking(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            outputs = call([to_tensor(x) for x in arrays])
            take_last(outputs[returned:])
            return tuple([to_array(output) for output in outputs[:returned]])

        return taking
    if inputs == len(concrete.outputs) == 1:  # acting, where a comprehension and a call are noticeable
        if concrete.outputs[0].shape.rank:
            return lambda x: (call([to_tensor(x)])[0].numpy(),)
        return lambda x: (to_array(call([to_tensor(x)])[0]),)
    if inputs == 0:
        return lambda: tuple([to_array(output) for output in call([])])
    if inputs == 1:
        return lambda x: tuple([to_array(output) for output in call([to_tensor(x)])])
    return lambda *arrays: tuple([to_array(output) for output in call([to_tensor(x) for x in arrays])])


def _same(tensor: Any) -> Any:
    return tensor


def to_array(tensor: Any) -> np.ndarray:
    """A copy of `tensor`, which may share memory with a variable; `numpy` does not return an array for a scalar."""
    return np.asarray(tensor.numpy())


# Call paths.


def public_call(concrete: Any, /, *, single_threaded: bool = False) -> Call:
    """The public call of a ConcreteFunction."""
    return lambda tensors: concrete(*tensors) or ()


def flat_call(concrete: Any, /, *, single_threaded: bool = False) -> Call:
    """The function inside a ConcreteFunction, without checks and gradient tape."""
    call_flat = concrete._inference_function.call_flat
    captured = tuple(concrete.captured_inputs)
    return lambda tensors: call_flat(*tensors, *captured) or ()


def runtime_call(concrete: Any, /, *, single_threaded: bool = False) -> Call:
    """The runtime's entry for functions; runs operations one after the other if `single_threaded`."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context
    from tensorflow.python.eager.polymorphic_function.atomic_function import InterpolateRuntimeError

    tf_context = context.context()
    tf_context.ensure_initialized()
    options = dict(tf_context.function_call_options.as_attrs())
    if single_threaded and not _has_control_flow(concrete.graph):
        options["executor_type"] = "SINGLE_THREADED_EXECUTOR"
    attributes = tuple(item for pair in options.items() for item in pair)
    function = concrete._inference_function
    name, count = function.name.decode(), len(concrete.outputs)
    captured = list(concrete.captured_inputs)
    execute, handle = pywrap_tfe.TFE_Py_Execute, tf_context._handle

    def call(tensors: list[Any]) -> Sequence[Any]:
        try:
            return execute(handle, "", name, tensors + captured, attributes, count)
        except Exception as error:
            with InterpolateRuntimeError(function):  # adds where the operation was created
                raise _as_public(error) from None

    return call


def _has_control_flow(graph: Any) -> bool:
    """Whether it has loops, branches or calls, which the single-threaded executor does not support."""
    kinds = ("While", "If", "Case", "Call", "Merge", "Switch")
    return any(operation.type.endswith(kinds) for operation in graph.get_operations())


def _as_public(error: Exception) -> Exception:
    """The exception of `tf.errors` for an error of the runtime, which has only a code and a message."""
    code, message = getattr(error, "code", None), getattr(error, "message", None)
    if not isinstance(code, int) or message is None:
        return error
    kind = tf.compat.v1.errors.exception_type_from_error_code(code)
    return kind(None, None, message)


@cache
def shortest_way() -> Way:
    """The fastest call path that works with this version of TensorFlow."""
    return next((way for way in (runtime_call, flat_call) if works(way)), public_call)


def works(way: Way) -> bool:
    """Whether `way` returns correct outputs and executes writes."""
    variable = tf.Variable(1.0)
    spec = tf.TensorSpec([], tf.float32)
    write = tf.function(lambda x: variable.assign(x, read_value=False) and None, autograph=False)
    read = tf.function(lambda x: (variable + x, variable - x), autograph=False)
    try:
        for single_threaded in (False, True):
            variable.assign(1.0)
            writing = way(write.get_concrete_function(spec), single_threaded=single_threaded)
            reading = way(read.get_concrete_function(spec), single_threaded=single_threaded)
            outputs = list(writing([tf.constant(3.0)]))
            if outputs or [float(output) for output in reading([tf.constant(2.0)])] != [5.0, 1.0]:
                return False
    except Exception:  # any error: the public call does the same
        return False
    return True


# Conversion of inputs.


@cache
def conversion() -> Callable[[np.ndarray], Any]:
    """The fastest conversion from arrays to tensors that works with this version of TensorFlow.

    All of them copy. Otherwise TensorFlow could keep the memory of an array, for instance in a variable, while its
    owner continues to write into it.
    """
    try:
        from tensorflow.python.framework.ops import EagerTensor

        with tf.device("CPU:0"):
            cpu = tf.constant(0.0).device

        def convert(array: np.ndarray) -> Any:
            # Without the device's full name an operation would copy the tensor to its own device.
            return EagerTensor(array.copy(), cpu, None)

        for array in (np.arange(6, dtype=np.int64)[::2], np.ones((2, 3), np.float32).T, np.array(True)):
            back = convert(array).numpy()
            if np.asarray(back).dtype != array.dtype or not np.array_equal(back, array):
                return tf.constant
    except Exception:  # any error: `tf.constant` does the same
        return tf.constant
    return convert
