"""Recurrent layers: one step of an LSTM or a GRU, and the recursion over a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.core.functional.sequences import parts_in_a_row, parts_side_by_side

Tensor = Any

#: ``(x_t [B, K], states_tm1 ([B, U], ...)) -> states_t``; the last of the states is the output.
Step = Callable[[Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]
#: A function with the arguments and results of `unroll`.
Unroll = Callable[..., tuple[Tensor, tuple[Tensor, ...]]]


def lstm_step(
    ops: Any,
    projected: Tensor,
    c_tm1: Tensor,
    h_tm1: Tensor,
    recurrent_weights: Tensor,
    peepholes: Tensor | None = None,
    cell_clip: float | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: ``projected [B, 4 U], c_tm1 [B, U], h_tm1 [B, U] -> c_t [B, U], h_t [B, U]``.

    With ``z = projected + h_tm1 @ recurrent_weights``, in four parts ``z_i, z_f, z_g, z_o``::

        i = sigmoid(z_i + p_i * c_tm1)
        f = sigmoid(z_f + p_f * c_tm1)
        c_t = clip(f * c_tm1 + i * tanh(z_g))
        o = sigmoid(z_o + p_o * c_t)
        h_t = o * tanh(c_t)

    Hochreiter and Schmidhuber (1997, https://doi.org/10.1162/neco.1997.9.8.1735) with the forget gate of Gers et al.
    (2000, https://doi.org/10.1162/089976600300015015); peepholes as in Gers et al. (2002,
    https://www.jmlr.org/papers/v3/gers02a.html), the clipped cell as in Sak et al. (2014,
    https://arxiv.org/abs/1402.1128).

    Args:
        ops: the backend's operations.
        projected: ``x_t @ weights + biases``.
        c_tm1: the cell's state before the step.
        h_tm1: the output before the step.
        recurrent_weights: [U, 4 U].
        peepholes: [3, U]: ``p_i, p_f, p_o``; None: 0.
        cell_clip: ``c_t`` is clipped to ``[-cell_clip, cell_clip]``; None: no clipping.
    """
    gates = projected + ops.matmul(h_tm1, recurrent_weights)
    z_i, z_f, z_g, z_o = ops.split(gates, (h_tm1.shape[-1],) * 4, axis=-1)
    if peepholes is not None:
        z_i = z_i + peepholes[0] * c_tm1
        z_f = z_f + peepholes[1] * c_tm1
    c_t = ops.sigmoid(z_f) * c_tm1 + ops.sigmoid(z_i) * ops.tanh(z_g)
    if cell_clip is not None:
        c_t = ops.clip(c_t, -cell_clip, cell_clip)
    if peepholes is not None:
        z_o = z_o + peepholes[2] * c_t
    return c_t, ops.sigmoid(z_o) * ops.tanh(c_t)


def gru_step(
    ops: Any, projected: Tensor, h_tm1: Tensor, recurrent_weights: Tensor, recurrent_biases: Tensor
) -> Tensor:
    """One step of a GRU: ``projected [B, 3 U], h_tm1 [B, U] -> h_t [B, U]``.

    With ``projected`` in three parts ``x_r, x_z, x_n``, and ``h_tm1 @ recurrent_weights + recurrent_biases`` in
    ``u_r, u_z, u_n``::

        r = sigmoid(x_r + u_r)
        z = sigmoid(x_z + u_z)
        n = tanh(x_n + r * u_n)
        h_t = (1 - z) * n + z * h_tm1

    The gated unit of Cho et al. (2014), https://arxiv.org/abs/1406.1078, in the form of its first version
    (https://arxiv.org/abs/1406.1078v1): the reset gate ``r`` acts after the matrix product, so one product is enough.
    `torch.nn.GRU`, Keras (`reset_after=True`) and cuDNN use this form. In the later version ``r`` acts on ``h_tm1``.

    Args:
        ops: the backend's operations.
        projected: ``x_t @ weights + biases``.
        h_tm1: the output before the step.
        recurrent_weights: [U, 3 U].
        recurrent_biases: [3 U].
    """
    sizes = (h_tm1.shape[-1],) * 3
    x_r, x_z, x_n = ops.split(projected, sizes, axis=-1)
    u_r, u_z, u_n = ops.split(ops.linear(h_tm1, recurrent_weights, recurrent_biases), sizes, axis=-1)
    z = ops.sigmoid(x_z + u_z)
    n = ops.tanh(x_n + ops.sigmoid(x_r + u_r) * u_n)
    return n + z * (h_tm1 - n)


def unroll(
    ops: Any,
    step: Step,
    xs: Tensor,
    states: tuple[Tensor, ...],
    sequence_length: Tensor | None = None,
    resets: Tensor | None = None,
    every_step: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """`step` over a sequence: ``xs [T, B, K], states ([B, U], ...) -> ys [T, B, U], states``.

    Args:
        ops: the backend's operations.
        step: returns the states after a step; the last of them is the output of the step.
        xs: the inputs of the steps.
        states: the states before the first step.
        sequence_length: int [B], number of valid steps of each sequence; None: all. Outputs after them are zero, and
            the states returned are those after the last valid step.
        resets: bool [T, B], the steps before which the states are zeroed; None: none.
        every_step: return the states after every step, [T, B, U], instead of those after the last.
    """
    items = {"x": xs}
    if sequence_length is not None:
        steps = ops.expand_dims(ops.arange(ops.shape(xs)[0]), 1)
        counts = steps < ops.expand_dims(ops.astype(sequence_length, "int64"), 0)
        items["counts"] = ops.expand_dims(counts, 2)
    if resets is not None:
        items["resets"] = resets

    def body(states: tuple[Tensor, ...], items: dict[str, Tensor]) -> tuple[tuple[Tensor, ...], Any]:
        if resets is not None:
            states = reset(ops, states, items["resets"])
        after = step(items["x"], states)
        if sequence_length is None:
            return after, after if every_step else after[-1]
        y = ops.where(items["counts"], after[-1], 0.0)
        after = tuple(ops.where(items["counts"], new, old) for new, old in zip(after, states, strict=True))
        return after, (*after, y) if every_step else y

    last, collected = ops.scan(body, states, items)
    return (collected[-1], collected[: len(states)]) if every_step else (collected, last)


def unroll_parts(
    ops: Any,
    step: Step,
    xs: Tensor,
    states: tuple[Tensor, ...],
    sequence_length: None = None,
    resets: Tensor | None = None,
    every_step: bool = False,
    unroll: Unroll = unroll,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """As `unroll`, from ``states ([C, B, U], ...)`` before each of C parts of equal length of the sequence.

    The parts are unrolled side by side; no gradient passes from one to the next.
    """
    number, steps, units = ops.shape(states[0])[0], ops.shape(xs)[0], states[0].shape[-1]
    xs = parts_side_by_side(ops, xs, number)
    resets = None if resets is None else parts_side_by_side(ops, resets, number)
    states = tuple(ops.reshape(state, (-1, units)) for state in states)
    ys, after = unroll(ops, step, xs, states, sequence_length, resets, every_step)
    if every_step:
        after = tuple(parts_in_a_row(ops, state, number, steps) for state in after)
    else:
        after = tuple(ops.reshape(state, (number, -1, units))[-1] for state in after)
    return parts_in_a_row(ops, ys, number, steps), after


def reset(ops: Any, states: tuple[Tensor, ...], resets: Tensor) -> tuple[Tensor, ...]:
    """``states ([B, U], ...)``, zeroed where ``resets`` [B] is true."""
    column = ops.expand_dims(resets, 1)
    return tuple(ops.where(column, 0.0, state) for state in states)


def project(ops: Any, inputs: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    """``inputs @ weights + biases`` for all steps in one product: ``[..., N] -> [..., K]``."""
    if len(inputs.shape) == 2:
        return ops.linear(inputs, weights, biases)
    rows = ops.linear(ops.reshape(inputs, (-1, inputs.shape[-1])), weights, biases)
    return ops.reshape(rows, (*ops.shape(inputs)[:-1], weights.shape[-1]))
