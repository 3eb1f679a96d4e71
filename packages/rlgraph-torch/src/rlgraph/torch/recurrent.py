"""Kernels of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rlgraph.components.layers.lstm import LSTM


def lstm(self: Any, ops: Any) -> Callable[..., tuple[Tensor, ...]]:
    """`LSTM._call` by torch's LSTM where oneDNN computes it: last states, whole sequences without lengths and resets.

    It has no peepholes and no clipping.
    """
    single_source = partial(LSTM._call.function, self, ops)
    # On a GPU it would be cuDNN, which rounds to fewer bits (TF32).
    if self.use_peepholes or self.cell_clip is not None or self.weights.device.type != "cpu":
        return single_source
    units, return_sequences = self.units, self.return_sequences
    parameters = self.weights, self.recurrent_weights, self.biases

    def run(
        space: Any,
        inputs: Tensor,
        states: Any,
        sequence_length: Tensor | None,
        resets: Tensor | None,
        every_step: bool | None,
    ) -> tuple[Tensor, ...]:
        is_plain = sequence_length is None and resets is None and not every_step
        is_plain = is_plain and (states is None or states[0].ndim == 2)
        if not (space.has_time_rank and is_plain) or inputs.numel() == 0:
            return single_source(space, inputs, states, sequence_length, resets, every_step)
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
            (
                weights.t().contiguous(),
                recurrent_weights.t().contiguous(),
                biases,
                torch.zeros_like(biases),
            ),
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
