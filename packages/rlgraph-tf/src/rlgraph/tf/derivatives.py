"""Derivatives of TensorFlow operations with fewer operations than TensorFlow's own.

With an open batch size TensorFlow computes shapes at run time: the derivative of a mean takes a dozen operations, that
of selecting one element per row twenty. Most of them are needless if the axes are known, and in programs of small
networks every operation counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import tensorflow as tf

Tensor = Any


def reduce_sum(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """`tf.reduce_sum`."""
    x = tf.convert_to_tensor(x)
    return _with_derivative("Sum", "RLgraphSum", partial(tf.reduce_sum, x, _axes(x, axis), keepdims))


def reduce_mean(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """`tf.reduce_mean`."""
    x = tf.convert_to_tensor(x)
    return _with_derivative("Mean", "RLgraphMean", partial(tf.reduce_mean, x, _axes(x, axis), keepdims))


def pick(x: Tensor, indices: Tensor) -> Tensor:
    """One element of ``x [..., N]`` per element of ``indices [..., K]``, whose other sizes equal those of `x`."""
    x, indices = tf.convert_to_tensor(x), tf.convert_to_tensor(indices)
    last = len(x.shape) - 1
    gather = partial(tf.raw_ops.GatherV2, params=x, indices=indices, axis=last, batch_dims=last)
    # For K > 1 a row may select one element twice: TensorFlow's own derivative sums them.
    return _with_derivative("GatherV2", "RLgraphPick", gather) if indices.shape[-1] == 1 else gather()


#: Collection of a graph: the derivatives of its operations that `custom_gradient` made, by name.
_OWN = "rlgraph_derivatives"


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """`tf.custom_gradient` of tensors, whose derivative goes with its graph.

    TensorFlow registers the derivative of each trace, and with it the graph, for the life of the process.
    """

    def derived(*inputs: Tensor) -> Any:
        if tf.executing_eagerly() or _standard.get():
            return tf.custom_gradient(function)(*inputs)
        results, derivative = function(*inputs)
        flat, graph = tf.nest.flatten(results), tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"IdentityN": "RLgraphCustom"}):
            outputs = tf.raw_ops.IdentityN(input=[*flat, *inputs])
        graph.add_to_collection(_OWN, (outputs[0].op.name, (len(flat), derivative)))
        return tf.nest.pack_sequence_as(results, outputs[: len(flat)])

    return derived


@tf.RegisterGradient("RLgraphCustom")
def _custom_derivative(operation: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
    count, derivative = dict(operation.graph.get_collection(_OWN))[operation.name]
    return (*(None for _ in range(count)), *derivative(*gradients[:count]))


_standard: ContextVar[bool] = ContextVar("standard", default=False)


@contextmanager
def standard_derivatives() -> Iterator[None]:
    """Context for tracing with TensorFlow's own derivatives, for programs that run without RLgraph."""
    token = _standard.set(True)
    try:
        yield
    finally:
        _standard.reset(token)


def are_standard() -> bool:
    """Whether programs are traced with TensorFlow's own derivatives."""
    return _standard.get()


def _with_derivative(operation: str, derivative: str, compute: Callable[[], Tensor]) -> Tensor:
    if _standard.get():
        return compute()
    with tf.compat.v1.get_default_graph().gradient_override_map({operation: derivative}):
        return compute()


def _axes(x: Tensor, axis: Any) -> Tensor:
    rank = len(x.shape)
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.constant(sorted(a % rank for a in axes), tf.int32)


def _spread(x: Tensor, axes: list[int], keepdims: bool, gradient: Tensor) -> Tensor:
    """`gradient` of the reduced `x`, repeated along the reduced axes."""
    if not keepdims:
        for axis in axes if len(axes) < len(x.shape) else ():
            gradient = tf.expand_dims(gradient, axis)
    return tf.broadcast_to(gradient, tf.shape(x))


def _folded(operation: Any) -> list[int]:
    return [int(axis) for axis in tf.get_static_value(operation.inputs[1]).reshape(-1)]


@tf.RegisterGradient("RLgraphSum")
def _sum_derivative(operation: Any, gradient: Tensor) -> tuple[Tensor, None]:
    x = operation.inputs[0]
    return _spread(x, _folded(operation), operation.get_attr("keep_dims"), gradient), None


@tf.RegisterGradient("RLgraphMean")
def _mean_derivative(operation: Any, gradient: Tensor) -> tuple[Tensor, None]:
    x, axes = operation.inputs[0], _folded(operation)
    sizes = [x.shape[axis] for axis in axes]
    if None not in sizes:
        count = tf.constant(math.prod(sizes), x.dtype)
    elif len(axes) == len(x.shape):
        count = tf.cast(tf.size(x), x.dtype)
    else:
        count = tf.cast(tf.reduce_prod(tf.gather(tf.shape(x), axes)), x.dtype)
    return _spread(x, axes, operation.get_attr("keep_dims"), gradient / count), None


@tf.RegisterGradient("RLgraphPick")
def _pick_derivative(operation: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
    x, indices = operation.inputs[0], operation.inputs[1]
    size = x.shape[-1] if x.shape[-1] is not None else tf.shape(x)[-1]
    return gradient * tf.one_hot(tf.squeeze(indices, -1), size, dtype=gradient.dtype), None, None
