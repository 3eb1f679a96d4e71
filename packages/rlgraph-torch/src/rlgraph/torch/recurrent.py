"""Kernels of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rlgraph.components.layers.lstm import LSTM
from rlgraph.core.functional.recurrent import Step, lstm_step, unroll


def lstm(self: Any, ops: Any) -> Callable[..., tuple[Tensor, ...]]:
    """`LSTM._call` on a CPU, without peepholes and clipping, by torch's LSTM or by `_OverTime`.

    oneDNN computes the first: whole sequences without lengths and resets, and the states after the last step.
    """
    single_source = partial(LSTM._call.function, self, ops)
    # On a GPU it would be cuDNN, which rounds to fewer bits (TF32).
    if self.use_peepholes or self.cell_clip is not None or self.weights.device.type != "cpu":
        return single_source
    units, return_sequences = self.units, self.return_sequences
    parameters = self.weights, self.recurrent_weights, self.biases

    def step(projected: Tensor, states: Any) -> tuple[Tensor, Tensor]:
        c, h = states
        return lstm_step(ops, projected, c, h, self.recurrent_weights)

    def run(
        space: Any,
        inputs: Tensor,
        states: Any,
        sequence_length: Tensor | None,
        resets: Tensor | None,
        every_step: bool | None,
    ) -> tuple[Tensor, ...]:
        if torch.compiler.is_compiling():
            return single_source(space, inputs, states, sequence_length, resets, every_step)
        is_plain = sequence_length is None and resets is None and not every_step
        is_plain = is_plain and (states is None or states[0].ndim == 2)
        if not (space.has_time_rank and is_plain) or inputs.numel() == 0:
            over_time: Any = partial(_over_time, self.recurrent_weights)
            given = inputs, states, sequence_length, resets, every_step
            found: tuple[Tensor, ...] = self.run_steps(ops, space, step, *given, over_time)
            return found
        is_time_major = space.time_major
        if not is_time_major:
            inputs = inputs.transpose(0, 1)
        if states is None:
            c = h = inputs.new_zeros(1, inputs.shape[1], units)
        else:
            c, h = states[0].unsqueeze(0), states[1].unsqueeze(0)
        weights, recurrent_weights, biases = parameters
        outputs, h, c = torch.lstm(
            inputs,
            (h, c),
            # Transposed here, since it would transpose them again for the derivatives. It adds two biases.
            (weights.t().contiguous(), recurrent_weights.t().contiguous(), biases, torch.zeros_like(biases)),
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=torch.is_grad_enabled(),
            bidirectional=False,
            batch_first=False,
        )
        h = h.squeeze(0)
        if not return_sequences:
            outputs = h
        elif not is_time_major:
            outputs = outputs.transpose(0, 1)
        return outputs, c.squeeze(0), h

    return run


def _over_time(
    weights: Tensor,
    ops: Any,
    step: Step,
    xs: Tensor,
    states: Any,
    sequence_length: Tensor | None,
    resets: Tensor | None,
    every_step: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """As `unroll`, by `_OverTime` where there are no lengths."""
    if sequence_length is not None:
        return unroll(ops, step, xs, states, sequence_length, resets, every_step)
    begins = None if resets is None else resets.unsqueeze(2)
    cells, outputs = _OverTime.apply(xs, begins, *states, weights)
    before, after = (cells, outputs), (cells[1:], outputs[1:])
    return after[1], after if every_step else tuple(x[-1] for x in before)


class _OverTime(torch.autograd.Function):
    """An LSTM over a sequence: ``xs [T, B, 4 U], begins [T, B, 1], c [B, U], h [B, U], weights [U, 4 U]``.

    Returns c and h before the first step and after every step, ``[T + 1, B, U]`` each. Autograd would record every
    operation of every step, and make a product for the weights in each; here one makes it of all steps.
    """

    @staticmethod
    def forward(ctx: Any, xs: Tensor, begins: Tensor | None, c: Tensor, h: Tensor, weights: Tensor) -> Any:
        steps, number, units = len(xs), len(c), len(weights)
        cells, outputs = (xs.new_empty(steps + 1, number, units) for _ in range(2))
        gates, tanhs = xs.new_empty(steps, number, 4 * units), xs.new_empty(steps, number, units)
        cells[0], outputs[0] = c, h
        rows = zip(
            xs.unbind(), gates.unbind(), tanhs.unbind(), cells[1:].unbind(), outputs[1:].unbind(), strict=True
        )
        for t, (x, z, tanh_c, new_c, new_h) in enumerate(rows):
            if begins is not None:
                c, h = c.masked_fill(begins[t], 0.0), h.masked_fill(begins[t], 0.0)
            torch.addmm(x, h, weights, out=z)
            i, f, g, o = z.split(units, 1)
            z[:, : 2 * units].sigmoid_()
            g.tanh_()
            o.sigmoid_()
            c = torch.mul(f, c, out=new_c).addcmul_(i, g)
            h = torch.mul(o, torch.tanh(c, out=tanh_c), out=new_h)
        ctx.save_for_backward(begins, weights, gates, tanhs, cells, outputs)
        return cells, outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_cells: Tensor, d_outputs: Tensor) -> Any:
        begins, weights, gates, tanhs, cells, outputs = ctx.saved_tensors
        units, transposed, d_xs = len(weights), weights.t(), torch.empty_like(gates)
        before = (cells[:-1], outputs[:-1])
        if begins is not None:
            before = tuple(x.masked_fill(begins, 0.0) for x in before)
        d_c, d_h = d_cells[-1], d_outputs[-1]
        sigmoid_backward, tanh_backward = torch.ops.aten.sigmoid_backward, torch.ops.aten.tanh_backward
        for t in range(len(gates) - 1, -1, -1):
            i, f, g, o = gates[t].split(units, 1)
            d_i, d_f, d_g, d_o = d_xs[t].split(units, 1)
            d_c = d_c + tanh_backward(d_h * o, tanhs[t])
            sigmoid_backward.grad_input(d_h * tanhs[t], o, grad_input=d_o)
            sigmoid_backward.grad_input(d_c * g, i, grad_input=d_i)
            sigmoid_backward.grad_input(d_c * before[0][t], f, grad_input=d_f)
            tanh_backward.grad_input(d_c * i, g, grad_input=d_g)
            d_c, d_h = d_c * f, d_xs[t].mm(transposed)
            if begins is not None:
                d_c, d_h = d_c.masked_fill_(begins[t], 0.0), d_h.masked_fill_(begins[t], 0.0)
            d_c, d_h = d_c.add_(d_cells[t]), d_h.add_(d_outputs[t])
        d_weights = before[1].reshape(-1, units).t().mm(d_xs.reshape(-1, 4 * units))
        return d_xs, None, d_c, d_h, d_weights
