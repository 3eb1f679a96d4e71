"""The yardstick on PyTorch: the same policy and the same update, written by hand as fast as eager torch allows.

Nothing is checked, nothing can be exchanged: sizes, loss and optimizer are fixed. The update steps one flat parameter
by one fused Adam; acting uses tensors that need no gradient, so that no mode has to be switched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from by_hand.flat_torch import ONE, Moments, Parameters, adam, compiled, flatten, run_backward
from by_hand.update import UpdateByHand
from subject import CLIP_NORM, DISCOUNT, EPSILON, KEYS, LEARNING_RATE, names, random_batch, random_states
from torch import Tensor

addmm, from_numpy, gather = torch.addmm, torch.from_numpy, torch.gather
smooth_l1_loss = torch._C._nn.smooth_l1_loss


def q_values(parameters: tuple[Tensor, ...], states: Tensor) -> Tensor:
    """``[B, 4] -> [B, A]``; in place where no derivative needs what is overwritten."""
    w0, b0, w1, b1, w_value, b_value, w_advantages, b_advantages = parameters
    features = addmm(b1, addmm(b0, states, w0).relu_(), w1).relu_()
    advantages = addmm(b_advantages, features, w_advantages)
    return addmm(b_value, features, w_value).add(advantages).sub_(advantages.mean(1, True))


def make_act(
    weights: Mapping[str, np.ndarray], batch_size: int, compile: bool = False
) -> Callable[[np.ndarray], np.ndarray]:
    """``f(states [B, 4]) -> greedy actions [B]``."""
    policy = Parameters(weights, names("dqn/policy"))
    parameters = policy.views
    if compile:

        def greedy(_: Any, inputs: Any) -> Any:
            flat, states = inputs
            return [], [q_values(policy.cut(flat), states).argmax(1)]

        program = compiled(greedy, [], [policy.flat, from_numpy(random_states(batch_size))])
        return lambda states: program(policy.flat, from_numpy(states))[0].numpy()

    def act(states: np.ndarray) -> np.ndarray:
        return q_values(parameters, from_numpy(states)).argmax(1).numpy()

    return act


def loss_of(frozen: Any, target: Any, leaves: Any, *batch: Tensor) -> Tensor:
    """The loss, recorded for `leaves`; `frozen` are the same parameters without."""
    states, actions, rewards, terminals, next_states = batch
    best = q_values(frozen, next_states).argmax(1, True)
    bootstrap = gather(q_values(target, next_states), 1, best).squeeze_(1)
    bootstrap.masked_fill_(terminals, 0.0)
    targets = rewards.add(bootstrap, alpha=DISCOUNT)
    taken = gather(q_values(leaves, states), 1, actions.unsqueeze(1)).squeeze(1)
    return smooth_l1_loss(taken, targets, 1)


class Update(UpdateByHand):
    """``update(batch) -> loss``: one step of dueling double DQN."""

    def __init__(self, weights: Mapping[str, np.ndarray], compile: bool = False):
        self.policy, self.target = (
            Parameters(weights, names(scope)) for scope in ("dqn/policy", "dqn/target-policy/policy")
        )
        self.moments = Moments(self.policy.flat, LEARNING_RATE, EPSILON)
        super().__init__([self.policy], [self.moments])
        self._step = self._compile() if compile else self._make_step()

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        return self._step(*[batch[key] for key in KEYS])

    def _make_step(self) -> Callable[..., float]:
        frozen, target, leaves = self.policy.views, self.target.views, self.policy.leaves()
        apply = self.moments.step

        def step(*arrays: Any) -> float:
            loss = loss_of(frozen, target, leaves, *map(from_numpy, arrays))
            gradient = flatten(run_backward((loss,), ONE, False, False, leaves, True, accumulate_grad=False))
            apply(gradient, CLIP_NORM)
            return loss.item()

        return step

    def _compile(self) -> Callable[..., float]:
        policy, target = self.policy, self.target

        def step(states: Any, inputs: Any) -> Any:
            fixed, *batch = inputs
            flat = states[0].detach().requires_grad_()
            loss = loss_of(policy.cut(states[0]), target.cut(fixed), policy.cut(flat), *batch)
            (gradient,) = torch.autograd.grad(loss, flat)
            return adam(states, gradient, LEARNING_RATE, EPSILON, CLIP_NORM), [loss.detach()]

        examples = random_batch()
        inputs = [target.flat, *(from_numpy(examples[key]) for key in KEYS)]
        program = compiled(step, [policy.flat, *self.moments.state], inputs)
        return lambda *arrays: program(target.flat, *map(from_numpy, arrays))[0].item()
