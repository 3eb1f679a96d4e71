"""Kernels of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from rlgraph.components.layers.lstm import LSTM
from rlgraph.core.functional.recurrent import Step, lstm_step, unroll
from rlgraph.tf.derivatives import are_standard, custom_gradient

Tensor = Any


def lstm(self: Any, ops: Any) -> Callable[..., Any]:
    """`LSTM._call` with `_over_time`, where there are no peepholes, clipping and lengths."""
    if self.use_peepholes or self.cell_clip is not None:
        return partial(LSTM._call.function, self, ops)

    def run(space: Any, inputs: Tensor, *others: Any) -> Any:
        weights = self.recurrent_weights.value

        def step(projected: Tensor, states: Any) -> tuple[Tensor, Tensor]:
            c, h = states
            return lstm_step(ops, projected, c, h, weights)

        def over_time(
            ops: Any,
            step: Step,
            xs: Tensor,
            states: Any,
            sequence_length: Tensor | None,
            resets: Tensor | None,
            every_step: bool,
        ) -> Any:
            if sequence_length is not None or are_standard():
                return unroll(ops, step, xs, states, sequence_length, resets, every_step)
            keeps = tf.ones_like(xs[:, :, :1], tf.bool) if resets is None else ~tf.expand_dims(resets, 2)
            cells, outputs, *last = _over_time(xs, keeps, *states, weights)
            return outputs, (cells, outputs) if every_step else tuple(last)

        return self.run_steps(ops, space, step, inputs, *others, over_time)

    return run


@custom_gradient
def _over_time(xs: Tensor, keeps: Tensor, c: Tensor, h: Tensor, weights: Tensor) -> Any:
    """An LSTM over a sequence: ``[T, B, 4 U], [T, B, 1], [B, U], [B, U], [U, 4 U] -> c, h`` of all steps and the last.

    TensorFlow's derivative of the loop computes shapes in every step, and a product for the weights; this one makes one
    product of all steps.
    """
    steps = tf.shape(xs)[0]
    inputs, kept = _array(steps, xs).unstack(xs), _array(steps, keeps).unstack(keeps)

    def forward(t: Tensor, c: Tensor, h: Tensor, cells: Any, outputs: Any, gates: Any) -> Any:
        keep = kept.read(t)
        c, h = tf.where(keep, c, 0.0), tf.where(keep, h, 0.0)
        i, f, g, o = tf.split(inputs.read(t) + tf.matmul(h, weights), 4, axis=1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        c = f * c + i * g
        h = o * tf.tanh(c)
        gates = gates.write(t, tf.concat([i, f, g, o], 1))
        return t + 1, c, h, cells.write(t + 1, c), outputs.write(t + 1, h), gates

    # The first rows are the states before the first step, so that no array is ever empty.
    arrays = _array(steps + 1, c).write(0, c), _array(steps + 1, h).write(0, h), _array(steps, xs)
    start = tf.constant(0), c, h, *arrays
    _, *last, cells, outputs, gates = tf.while_loop(
        lambda t, *_: t < steps, forward, start, maximum_iterations=steps
    )
    all_c, all_h = cells.stack(), outputs.stack()

    def gradient(d_cells: Tensor, d_outputs: Tensor, d_c: Tensor, d_h: Tensor) -> Any:
        of_cells, of_outputs = _array(steps, d_cells).unstack(d_cells), _array(steps, d_outputs)
        of_outputs = of_outputs.unstack(d_outputs)
        transposed = tf.transpose(weights)
        before, after = (_array(steps, c).unstack(all_c[:-1]), _array(steps, c).unstack(all_c[1:]))

        def backward(k: Tensor, d_c: Tensor, d_h: Tensor, d_xs: Any) -> Any:
            t = steps - 1 - k
            i, f, g, o = tf.split(gates.read(t), 4, axis=1)
            keep, tanh_c = kept.read(t), tf.tanh(after.read(t))
            d_h += of_outputs.read(t)
            d_c += of_cells.read(t) + _of_tanh(tanh_c, d_h * o)
            d_i, d_f = _of_sigmoid(i, d_c * g), _of_sigmoid(f, d_c * tf.where(keep, before.read(t), 0.0))
            d_x = tf.concat([d_i, d_f, _of_tanh(g, d_c * i), _of_sigmoid(o, d_h * tanh_c)], 1)
            d_h = tf.where(keep, tf.matmul(d_x, transposed), 0.0)
            return k + 1, tf.where(keep, d_c * f, 0.0), d_h, d_xs.write(t, d_x)

        d_xs = _array(steps + 1, xs).write(steps, tf.zeros_like(tf.matmul(h, weights)))
        _, d_c, d_h, d_xs = tf.while_loop(
            lambda k, *_: k < steps, backward, (tf.constant(0), d_c, d_h, d_xs), maximum_iterations=steps
        )
        d_xs = d_xs.stack()[:-1]
        h_before = tf.reshape(tf.where(keeps, all_h[:-1], 0.0), (-1, h.shape[1]))
        d_weights = tf.matmul(h_before, tf.reshape(d_xs, (-1, xs.shape[2])), transpose_a=True)
        return d_xs, None, d_c, d_h, d_weights

    return (all_c[1:], all_h[1:], *last), gradient


def _array(size: Tensor, like: Tensor) -> Any:
    """Room for `size` tensors like the rows of sequences, or the states, `like`."""
    return tf.TensorArray(like.dtype, size, element_shape=like.shape[-2:])


def _of_tanh(y: Tensor, gradient: Tensor) -> Tensor:
    return tf.raw_ops.TanhGrad(y=y, dy=gradient)


def _of_sigmoid(y: Tensor, gradient: Tensor) -> Tensor:
    return tf.raw_ops.SigmoidGrad(y=y, dy=gradient)
