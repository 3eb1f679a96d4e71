"""The linear recurrence on TensorFlow tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from rlgraph.tf.derivatives import custom_gradient
from rlgraph.tf.shaping import Shaping

Tensor = Any


class Recurrence:
    """The operation family recurrence.

    Attributes:
        compiled: tracing is for XLA.
    """

    compiled: bool = False

    def linear_recurrence(
        self, x: Tensor, d: Any, initial: Tensor | None = None, reverse: bool = False, axis: int = 0
    ) -> Tensor:
        x = tf.convert_to_tensor(x)
        d = tf.broadcast_to(tf.convert_to_tensor(d, x.dtype), Shaping.shape(x))
        x, d = Shaping.moveaxis(x, axis, 0), Shaping.moveaxis(d, axis, 0)
        if not reverse:
            x, d = x[::-1], d[::-1]
        if initial is not None:
            x = tf.concat([x[:-1], x[-1:] + d[-1:] * initial], 0)
        y = _recurrence(x, d, compiled=self.compiled)
        return Shaping.moveaxis(y if reverse else y[::-1], 0, axis)


def _recurrence(x: Tensor, d: Tensor, *, compiled: bool) -> Tensor:
    """``y_t = x_t + d_t * y_{t+1}``, the last of `d` unused.

    The derivative is the same recurrence in reverse, which is cheaper than differentiating the computation.
    """
    compute = _scanned if compiled else _doubled

    @custom_gradient
    def recurrence(x: Tensor, d: Tensor) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
        y = compute(x, d)

        def derivative(gradient: Tensor) -> tuple[Tensor, Tensor]:
            # Reversed, the factor between neighbours belongs to the other neighbour.
            by_x = compute(gradient[::-1], tf.roll(d[::-1], -1, 0))[::-1]
            return by_x, by_x * tf.concat([y[1:], tf.zeros_like(y[:1])], 0)

        return y, derivative

    return recurrence(x, d)


def _doubled(x: Tensor, d: Tensor) -> Tensor:
    """By doubling the reach of each element: log2(T) operations on all of them (Hillis and Steele, 1986)."""
    return _doubled_open(x, d) if x.shape[0] is None else _doubled_known(x, d[:-1], x.shape[0])


def _doubled_known(y: Tensor, d: Tensor, length: int) -> Tensor:
    reach = 1
    while reach < length:
        y = tf.concat([y[:-reach] + d * y[reach:], y[-reach:]], 0)
        d = d[:-reach] * d[reach:]
        reach *= 2
    return y


def _doubled_open(x: Tensor, d: Tensor) -> Tensor:
    """The same for an open length."""
    zeros = tf.zeros_like(x)

    def step(reach: Tensor, y: Tensor, d: Tensor) -> tuple[Tensor, ...]:
        y = y + d * tf.concat([y[reach:], zeros[:reach]], 0)
        d = d * tf.concat([d[reach:], zeros[:reach]], 0)
        return 2 * reach, tf.ensure_shape(y, x.shape), tf.ensure_shape(d, x.shape)

    length = tf.shape(x)[0]
    _, y, _ = tf.while_loop(lambda reach, *_: reach < length, step, (tf.constant(1), x, d))
    return y


def _scanned(x: Tensor, d: Tensor) -> Tensor:
    """One element after the other: the fastest form if XLA compiles the loop, slow otherwise."""

    def step(y: Tensor, now: tuple[Tensor, Tensor]) -> Tensor:
        return now[0] + now[1] * y

    y = tf.scan(step, (x, d), tf.zeros(Shaping.shape(x)[1:], x.dtype), reverse=True)
    return tf.ensure_shape(y, x.shape)
