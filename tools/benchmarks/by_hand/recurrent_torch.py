"""The update of `recurrent_learner` on PyTorch, written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from by_hand import recurrent_learner as a2c
from by_hand.flat_torch import ONE, Moments, Parameters, flatten, run_backward
from by_hand.update import UpdateByHand
from torch import Tensor

addmm = torch.addmm


def step(projected: Tensor, c: Tensor, h: Tensor, recurrent: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = addmm(projected, h, recurrent).split(a2c.UNITS, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return c, o.sigmoid() * c.tanh()


def project(parameters: Any, states: Tensor) -> Tensor:
    """``[B, 4] -> [B, 4 U]``."""
    w0, b0, w1, _, b1 = parameters
    return addmm(b1, addmm(b0, states, w0).tanh_(), w1)


def unroll(parameters: Any, states: Tensor, keep: Tensor, c: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """The cell's states and the outputs of all steps, ``[T * B, U]`` each."""
    length, number, size = states.shape
    projected = project(parameters, states.reshape(-1, size)).view(length, number, -1)
    cells, outputs = [], []
    for inputs, kept in zip(projected.unbind(), keep.unbind(), strict=True):
        c, h = step(inputs, c * kept, h * kept, parameters[3])
        cells.append(c)
        outputs.append(h)
    return torch.cat(cells), torch.cat(outputs)


class Update(UpdateByHand):
    """``update(batch) -> loss``."""

    def __init__(self, weights: Mapping[str, np.ndarray]):
        self.parameters = Parameters(weights, a2c.NAMES)
        self.moments = Moments(self.parameters.flat, a2c.LEARNING_RATE, a2c.EPSILON)
        self.leaves = self.parameters.leaves()
        super().__init__([self.parameters], [self.moments])

    def __call__(self, batch: Mapping[str, Any]) -> np.ndarray:
        loss = self._loss(batch)
        gradients = run_backward((loss,), ONE, False, False, self.leaves, True, accumulate_grad=False)
        self.moments.step(flatten(gradients))
        return loss.detach().numpy()

    def _loss(self, batch: Mapping[str, Any]) -> Tensor:
        records = {name: torch.from_numpy(column) for name, column in batch["records"].items()}
        before = [torch.from_numpy(x[0]) for part in batch["beginnings"].values() for x in part["lstm_1"]]
        states, shape = records["states"], records["rewards"].shape
        keep = (~records["begins"]).to(states.dtype).unsqueeze(2)
        policy, values_of = self.leaves[:5], self.leaves[5:10]
        policy_w, policy_b, value_w, value_b = self.leaves[10:]
        cells, outputs = unroll(values_of, states, keep, *before[2:])
        values = addmm(value_b, outputs, value_w).view(shape)
        with torch.no_grad():
            projected = project(values_of, records["next_states"].reshape(-1, states.shape[2]))
            _, reached = step(projected, cells, outputs, values_of[3])
            following = addmm(value_b, reached, value_w).view(shape)
            following = following.masked_fill_(records["terminals"], 0.0)
            errors = records["rewards"] + a2c.DISCOUNT * following - values
            factors = a2c.DISCOUNT * (~records["ends"]).to(states.dtype)
            advantages, total = torch.empty_like(errors), torch.zeros_like(errors[0])
            for t in range(len(errors) - 1, -1, -1):
                total = advantages[t] = errors[t] + factors[t] * total
            targets = values + advantages
        _, outputs = unroll(policy, states, keep, *before[:2])
        log_probs = addmm(policy_b, outputs, policy_w).log_softmax(1)
        taken = log_probs.gather(1, records["actions"].view(-1, 1)).view(shape)
        entropy = -(log_probs.exp() * log_probs).sum(1).view(shape)
        losses = (
            a2c.VALUE_WEIGHT * (values - targets).square() - taken * advantages - a2c.ENTROPY_WEIGHT * entropy
        )
        return losses.mean()
