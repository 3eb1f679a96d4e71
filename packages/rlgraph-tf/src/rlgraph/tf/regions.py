"""Loops and branches of a segment as `tf.while_loop` and `tf.cond`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from rlgraph.core.graph.emission import EMPTY, LoopShape
from rlgraph.core.ops import Effects, TensorSpec
from rlgraph.tf.variables import SegmentVariables

Tensors = tuple[tf.Tensor, ...]


def loop(variables: SegmentVariables, shape: LoopShape) -> Callable[..., tuple[Tensors, Tensors]]:
    """``f(count, body, carried) -> (carried, collected)``, see `rlgraph.core.graph.emission.Linker`."""

    def run(count: Any, body: Callable[..., Any], carried: Sequence[Any]) -> tuple[Tensors, Tensors]:
        variables.read_ahead(shape.effects)
        last = tf.cast(count, tf.int64)
        size = tf.cast(count, tf.int32)
        if shape.collected and not (isinstance(count, int) and count > 0):
            # The check comes first, since a negative size would raise another error.
            with tf.control_dependencies([tf.debugging.assert_positive(size, EMPTY)]):
                size = tf.identity(size)
        arrays = tuple(
            tf.TensorArray(spec.dtype, size, element_shape=open_shape(spec)[1:]) for spec in shape.collected
        )

        def goes_on(i: tf.Tensor, going: tf.Tensor, *_: Any) -> tf.Tensor:
            return tf.logical_and(i < last, going)

        def iteration(i: tf.Tensor, going: tf.Tensor, values: Tensors, arrays: Any) -> Any:
            with variables.inside(shape.effects):
                leaving, items, stop = body(i, *values)
            leaving = _tensors(leaving, shape.carried)
            position = tf.cast(i, tf.int32)
            arrays = tuple(a.write(position, item) for a, item in zip(arrays, items, strict=True))
            return i + 1, going if stop is None else tf.logical_not(stop), leaving, arrays

        start = (tf.constant(0, tf.int64), tf.constant(True), _tensors(carried, shape.carried), arrays)
        shapes = (
            tf.TensorShape([]),
            tf.TensorShape([]),
            tuple(map(open_shape, shape.carried)),
            tuple(tf.TensorShape(None) for _ in arrays),
        )
        # XLA must know the maximum length of the record for derivatives.
        limit = count if isinstance(count, int) else None
        _, _, carried, arrays = tf.while_loop(
            goes_on, iteration, start, shape_invariants=shapes, maximum_iterations=limit
        )
        collected = tuple(
            tf.ensure_shape(a.stack(), open_shape(s)) for a, s in zip(arrays, shape.collected, strict=True)
        )
        return tuple(carried), collected

    return run


def branch(
    variables: SegmentVariables, specs: tuple[TensorSpec, ...], effects: Effects
) -> Callable[..., Tensors]:
    """``f(predicate, then, otherwise) -> tensors``, see `rlgraph.core.graph.emission.Linker`."""

    def run(predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Tensors:
        variables.read_ahead(effects)

        def traced(side: Callable[[], Any]) -> Callable[[], Any]:
            def run_side() -> Any:
                with variables.inside(effects):
                    # A side that only writes must still return something.
                    return _tensors(side(), specs) or tf.constant(0)

            return run_side

        found = tf.cond(predicate, traced(then), traced(otherwise))
        return (
            tuple(tf.ensure_shape(x, open_shape(s)) for x, s in zip(found, specs, strict=True))
            if specs
            else ()
        )

    return run


def open_shape(spec: TensorSpec) -> tf.TensorShape:
    """The static shape of a spec; sizes that are not fixed are None."""
    return tf.TensorShape([dim if isinstance(dim, int) else None for dim in spec.shape])


def _tensors(values: Sequence[Any], specs: Sequence[TensorSpec]) -> Tensors:
    return tuple(tf.convert_to_tensor(v, spec.dtype) for v, spec in zip(values, specs, strict=True))
