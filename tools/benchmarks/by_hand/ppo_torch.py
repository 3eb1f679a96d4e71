"""The update of `ppo_learner` on PyTorch, written by hand: eager, and with the whole minibatch compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from by_hand import ppo_learner as ppo
from by_hand.flat_torch import ONE, Moments, Parameters, adam, compiled, flatten, run_backward
from by_hand.update import UpdateByHand
from torch import Tensor

addmm, index_select = torch.addmm, torch.index_select


def network(parameters: Any, states: Tensor) -> Tensor:
    w0, b0, w1, b1, w2, b2 = parameters
    return addmm(b2, addmm(b1, addmm(b0, states, w0).tanh_(), w1).tanh_(), w2)


def loss_of(
    parameters: Any, states: Tensor, actions: Tensor, log_probs: Tensor, advantages: Tensor, returns: Tensor
) -> Tensor:
    new_log_probs = network(parameters[:6], states).log_softmax(1)
    # A mean over records of a sum over actions.
    negative_entropy = (new_log_probs.exp() * new_log_probs).sum()
    taken = new_log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    deviation, mean = torch.std_mean(advantages, correction=0)
    advantages = (advantages - mean).div_(deviation + 1e-8)
    ratio = (taken - log_probs).exp()
    gain = torch.minimum(ratio * advantages, ratio.clamp(1.0 - ppo.CLIP, 1.0 + ppo.CLIP) * advantages).mean()
    value_loss = torch._C._nn.mse_loss(network(parameters[6:], states).squeeze(1), returns, 1)
    return ppo.VALUE_WEIGHT * value_loss - gain + (ppo.ENTROPY_WEIGHT / len(states)) * negative_entropy


def records_of(batch: Mapping[str, np.ndarray]) -> list[Tensor]:
    """The records, with the targets of the value function in place of the values."""
    *records, values = (torch.from_numpy(batch[key]) for key in ppo.RECORDS)
    return [*records, values + records[-1]]


class Update(UpdateByHand):
    """``update(batch) -> mean loss``: one step per minibatch."""

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        batch: Mapping[str, np.ndarray],
        rng: np.random.Generator,
        compile: bool = False,
    ):
        self.rng = rng
        self.parameters = Parameters(weights, ppo.NAMES)
        self.moments = Moments(self.parameters.flat, ppo.LEARNING_RATE, ppo.EPSILON)
        super().__init__([self.parameters], [self.moments])
        self._minibatch = self._compile(batch) if compile else self._eager()

    def __call__(self, batch: Mapping[str, np.ndarray]) -> np.ndarray:
        records = records_of(batch)
        minibatch = self._minibatch
        order = torch.from_numpy(ppo.order_of(self.rng, len(records[0])))
        losses = [minibatch(rows, *records) for rows in order.unbind()]
        return torch.stack(losses).mean().numpy()

    def _eager(self) -> Callable[..., Tensor]:
        leaves = self.parameters.leaves()
        step = self.moments.step

        def minibatch(rows: Tensor, *records: Tensor) -> Tensor:
            loss = loss_of(leaves, *[index_select(record, 0, rows) for record in records])
            step(
                flatten(run_backward((loss,), ONE, False, False, leaves, True, accumulate_grad=False)),
                ppo.CLIP_NORM,
            )
            return loss.detach()

        return minibatch

    def _compile(self, batch: Mapping[str, np.ndarray]) -> Callable[..., Tensor]:
        parameters = self.parameters

        def minibatch(states: Any, inputs: Any) -> Any:
            rows, *records = inputs
            flat = states[0].detach().requires_grad_()
            loss = loss_of(parameters.cut(flat), *[index_select(record, 0, rows) for record in records])
            (gradient,) = torch.autograd.grad(loss, flat)
            return adam(states, gradient, ppo.LEARNING_RATE, ppo.EPSILON, ppo.CLIP_NORM), [loss.detach()]

        records = records_of(batch)
        examples = [torch.from_numpy(ppo.order_of(np.random.default_rng(0), len(records[0])))[0], *records]
        program = compiled(minibatch, [self.parameters.flat, *self.moments.state], examples)
        return lambda *tensors: program(*tensors)[0]
