"""Control flow on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from rlgraph.core.ops.nest import leaves_of, map_nested, nested_like

Tensor = Any
Nested = Any

#: The graph that contains the outermost control-flow operation during tracing.
_surrounding: ContextVar[Any] = ContextVar("surrounding", default=None)


@contextmanager
def _bodies() -> Iterator[None]:
    """Context for tracing functions that become separate graphs."""
    token = _surrounding.set(_surrounding.get() or tf.compat.v1.get_default_graph())
    try:
        yield
    finally:
        _surrounding.reset(token)


@contextmanager
def surrounding_graph() -> Iterator[None]:
    """Add operations to the graph that contains all bodies.

    Variables are read there: bodies write none, so the value stays valid after them.
    """
    graph = _surrounding.get()
    if graph is None:
        yield
    else:
        with graph.as_default():
            yield


class TfControl:
    """The control-flow operations (see `rlgraph.core.ops.control`); part of `TfOps`."""

    @staticmethod
    def cond(pred: Tensor, then: Callable[[], Nested], otherwise: Callable[[], Nested]) -> Nested:
        branches: list[Nested] = []

        def branch(function: Callable[[], Nested]) -> list[Tensor]:
            result = _tensors(function())
            branches.append(result)
            return leaves_of(map_nested(lambda _, leaf: leaf, branches[0], result))

        with _bodies():
            leaves = tf.cond(pred, lambda: branch(then), lambda: branch(otherwise))
        chosen = nested_like(branches[0], leaves)
        map_nested(_keep_shape, chosen, *branches)
        return chosen

    @staticmethod
    def while_loop(
        cond: Callable[[Nested], Tensor],
        body: Callable[[Nested], Nested],
        init: Nested,
        max_iterations: Any = None,
    ) -> Nested:
        start = _tensors(init)

        def step(*carry: Tensor) -> list[Tensor]:
            return _leaves_like(start, body(nested_like(start, carry)))

        with _bodies():
            last = tf.while_loop(
                lambda *carry: cond(nested_like(start, carry)),
                step,
                leaves_of(start),
                maximum_iterations=max_iterations,
            )
        return nested_like(start, last)

    @staticmethod
    def scan(
        body: Callable[[Nested, Nested], tuple[Nested, Nested]],
        init: Nested,
        xs: Nested,
        reverse: bool = False,
        axis: int = 0,
    ) -> tuple[Nested, Nested]:
        start = _tensors(init)
        xs = map_nested(lambda x: _moved(x, axis, 0), _tensors(xs))
        size = _size(leaves_of(xs)[0])
        items = map_nested(lambda rows: _to_array(rows, size), xs)

        def at(place: Any) -> Nested:
            return map_nested(lambda array: array.read(place), items)

        def step(i: Tensor, carry: list[Tensor], arrays: list[Any]) -> tuple[Any, ...]:
            place = size - 1 - i if reverse else i
            left, y = body(nested_like(start, carry), at(place))
            parts = _leaves_like(ys, y)
            written = [array.write(place, part) for array, part in zip(arrays, parts, strict=True)]
            return i + 1, _leaves_like(start, left), written

        def nothing() -> list[Tensor]:
            """Zero rows with the shapes of an iteration's results; only their shapes are used."""
            slices = map_nested(lambda rows: tf.zeros(tf.shape(rows)[1:], rows.dtype), xs)
            parts = _leaves_like(ys, body(start, slices)[1])
            return [tf.zeros(tf.concat([[0], tf.shape(part)], 0), part.dtype) for part in parts]

        with _bodies():
            ys = _returned(lambda: body(start, at(0))[1])
            arrays = [tf.TensorArray(y.dtype, size, element_shape=y.shape) for y in leaves_of(ys)]
            _, last, arrays = tf.while_loop(
                lambda i, *_: i < size,
                step,
                (tf.constant(0), leaves_of(start), arrays),
                maximum_iterations=size,
            )
            # An array without writes can only be stacked if its shape is known.
            shapes_are_known = all(y.shape.is_fully_defined() for y in leaves_of(ys))
            if isinstance(size, int):
                stacked = [array.stack() for array in arrays] if size or shapes_are_known else nothing()
            elif shapes_are_known:
                stacked = [array.stack() for array in arrays]
            else:
                stacked = tf.cond(size > 0, lambda: [array.stack() for array in arrays], nothing)
        known = size if isinstance(size, int) else None
        for rows, y in zip(stacked, leaves_of(ys), strict=True):
            rows.set_shape([known, *y.shape])
        return nested_like(start, last), nested_like(ys, [_moved(rows, 0, axis) for rows in stacked])

    @classmethod
    def map(cls, body: Callable[[Nested], Nested], xs: Nested, axis: int = 0) -> Nested:
        return cls.scan(lambda carry, x: (carry, body(x)), (), xs, axis=axis)[1]


def _tensors(value: Nested) -> Nested:
    return map_nested(tf.convert_to_tensor, value)


def _keep_shape(tensor: Tensor, *others: Tensor) -> None:
    """Give `tensor` the static shape of the others, which have the same shape."""
    for other in others:
        tensor.set_shape(other.shape)


def _leaves_like(structure: Nested, value: Nested) -> list[Tensor]:
    """The leaves of `value` in the order of another value of the same structure, with its static shapes."""
    leaves: list[Tensor] = []

    def keep(like: Any, leaf: Any) -> None:
        tensor = tf.convert_to_tensor(leaf)
        _keep_shape(tensor, like)
        leaves.append(tensor)

    map_nested(keep, structure, value)
    return leaves


def _returned(function: Callable[[], Nested]) -> Nested:
    """The `tf.TensorSpec`s of the results of `function`, without adding to the graph."""
    found: list[Nested] = []

    def traced() -> None:
        found.append(map_nested(lambda y: tf.TensorSpec(y.shape, y.dtype), _tensors(function())))

    tf.function(traced, autograph=False).get_concrete_function()
    return found[0]


def _size(rows: Tensor) -> Any:
    return tf.shape(rows)[0] if rows.shape[0] is None else rows.shape[0]


def _to_array(rows: Tensor, size: Any) -> Any:
    """`rows` as a tensor with a cheap derivative."""
    return tf.TensorArray(rows.dtype, size, element_shape=rows.shape[1:]).unstack(rows)


def _moved(x: Tensor, source: int, target: int) -> Tensor:
    """`x` with one axis moved."""
    if source == target:
        return x
    order = [axis for axis in range(len(x.shape)) if axis != source]
    order.insert(target, source)
    return tf.transpose(x, order)
