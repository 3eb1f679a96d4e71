"""The yardstick on PyTorch: the same policy and the same update, written by hand as fast as eager torch allows.

Nothing is checked, nothing can be exchanged: sizes, loss and optimizer are fixed. The update steps one flat parameter
by one fused Adam; acting uses tensors that need no gradient, so that no mode has to be switched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from subject import CLIP_NORM, DISCOUNT, EPSILON, LEARNING_RATE
from torch import Tensor

torch.set_num_threads(1)

#: Layers of the policy in the order of the flat parameter.
LAYERS = ("network/dense-0", "network/dense-1", "value", "advantages")

#: Yardsticks: name -> arguments of `make_act` and `Update`.
YARDSTICKS: dict[str, dict[str, bool]] = {"by hand": {}}

addmm, from_numpy, gather = torch.addmm, torch.from_numpy, torch.gather
run_backward = torch.autograd.Variable._execution_engine.run_backward
flatten = torch._C._nn.flatten_dense_tensors
fused_adam = torch._fused_adam_


class Parameters:
    """One flat tensor, and tensors of the layers' shapes that share its memory."""

    def __init__(self, weights: Mapping[str, np.ndarray], scope: str):
        names = [f"{scope}/{layer}/{kind}" for layer in LAYERS for kind in ("weights", "biases")]
        self.names = names
        self.flat = torch.from_numpy(np.concatenate([weights[name].ravel() for name in names]))
        pieces = self.flat.split([weights[name].size for name in names])
        self.views = tuple(
            piece.view(weights[name].shape).detach() for piece, name in zip(pieces, names, strict=True)
        )

    def as_numpy(self) -> dict[str, np.ndarray]:
        return {name: view.numpy().copy() for name, view in zip(self.names, self.views, strict=True)}


def q_values(parameters: tuple[Tensor, ...], states: Tensor) -> Tensor:
    """``[B, 4] -> [B, A]``; in place where no derivative needs what is overwritten."""
    w0, b0, w1, b1, w_value, b_value, w_advantages, b_advantages = parameters
    features = addmm(b1, addmm(b0, states, w0).relu_(), w1).relu_()
    advantages = addmm(b_advantages, features, w_advantages)
    return addmm(b_value, features, w_value).add(advantages).sub_(advantages.mean(1, True))


def make_act(weights: Mapping[str, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """``f(states [B, 4]) -> greedy actions [B]``."""
    parameters = Parameters(weights, "policy").views

    def act(states: np.ndarray) -> np.ndarray:
        return q_values(parameters, from_numpy(states)).argmax(1).numpy()

    return act


class Update:
    """``update(batch) -> loss``: one step of dueling double DQN."""

    def __init__(self, weights: Mapping[str, np.ndarray]):
        self.policy, self.target = Parameters(weights, "policy"), Parameters(weights, "target-policy")
        flat = self.policy.flat
        self.first, self.second, self.steps = torch.zeros_like(flat), torch.zeros_like(flat), torch.zeros(())
        self._start = flat.clone()
        self._step = self._make_step()

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        self.policy.flat.copy_(self._start)
        for state in (self.first, self.second, self.steps):
            state.zero_()

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        arrays = (batch[key] for key in ("states", "actions", "rewards", "terminals", "next_states"))
        return self._step(*arrays)

    def weights(self) -> dict[str, np.ndarray]:
        return self.policy.as_numpy()

    def _make_step(self) -> Callable[..., float]:
        flat, frozen, target = self.policy.flat, self.policy.views, self.target.views
        leaves = tuple(view.detach().requires_grad_() for view in frozen)
        first, second, steps = self.first, self.second, self.steps
        one = (torch.ones(()),)
        smooth_l1_loss = torch._C._nn.smooth_l1_loss

        def step(states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> float:
            states, next_states = from_numpy(states), from_numpy(next_states)
            # Nothing here needs a gradient, so nothing is recorded.
            best = q_values(frozen, next_states).argmax(1, True)
            bootstrap = gather(q_values(target, next_states), 1, best).squeeze_(1)
            bootstrap.masked_fill_(from_numpy(terminals), 0.0)
            targets = from_numpy(rewards).add(bootstrap, alpha=DISCOUNT)

            taken = gather(q_values(leaves, states), 1, from_numpy(actions).unsqueeze(1)).squeeze(1)
            loss = smooth_l1_loss(taken, targets, 1)
            gradient = flatten(run_backward((loss,), one, False, False, leaves, True, accumulate_grad=False))

            norm = torch.linalg.vector_norm(gradient).item()
            if norm > CLIP_NORM:
                gradient.mul_(CLIP_NORM / (norm + 1e-6))
            steps.add_(1.0)
            fused_adam(
                [flat], [gradient], [first], [second], [], [steps],
                lr=LEARNING_RATE, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=EPSILON, amsgrad=False, maximize=False,
            )  # fmt: skip
            return loss.item()

        return step
