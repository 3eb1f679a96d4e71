"""The update of `sac_learner` on PyTorch, written by hand: eager, and compiled as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from by_hand import sac_learner as sac
from by_hand.flat_torch import ONE, Moments, Parameters, adam, compiled, flatten, run_backward
from by_hand.update import UpdateByHand
from torch import Tensor

addmm = torch.addmm
mse_loss = torch._C._nn.mse_loss


def network(parameters: Any, states: Tensor) -> Tensor:
    w0, b0, w1, b1, w2, b2 = parameters
    return addmm(b2, addmm(b1, addmm(b0, states, w0).relu_(), w1).relu_(), w2)


def act(parameters: Any, states: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    mean, log_deviation = network(parameters, states).split(sac.ACTION_SIZE, 1)
    log_deviation = log_deviation.clamp(sac.LOWEST, sac.HIGHEST)
    actions = torch.addcmul(mean, log_deviation.exp(), noise).tanh()
    normal = (0.5 * noise * noise).add_(0.5 * math.log(2.0 * math.pi)) + log_deviation
    return actions, -(normal + (1.0 + 1e-6 - actions * actions).log()).sum(1)


def evaluate(parameters: Any, states: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    inputs = torch.cat([states, actions], 1)
    return network(parameters[:6], inputs).squeeze(1), network(parameters[6:], inputs).squeeze(1)


def targets_of(
    alpha: Tensor, actor: Any, targets: Any, rewards: Tensor, terminals: Tensor, states: Tensor, noise: Tensor
) -> Tensor:
    actions, log_probs = act(actor, states, noise)
    values = torch.minimum(*evaluate(targets, states, actions)) - alpha * log_probs
    return rewards.add(values.masked_fill(terminals, 0.0), alpha=sac.DISCOUNT)


def critic_loss_of(critics: Any, states: Tensor, actions: Tensor, wanted: Tensor) -> Tensor:
    first, second = evaluate(critics, states, actions)
    return 0.5 * (mse_loss(first, wanted, 1) + mse_loss(second, wanted, 1))


def actor_loss_of(alpha: Tensor, critics: Any, states: Tensor, actions: Tensor, log_probs: Tensor) -> Tensor:
    return (alpha * log_probs - torch.minimum(*evaluate(critics, states, actions))).mean()


class Update(UpdateByHand):
    """``update(batch) -> losses``: of critics, temperature and actor."""

    def __init__(self, weights: Mapping[str, np.ndarray], compile: bool = False):
        self.actor, self.critics, self.targets, self.temperature = (
            Parameters(weights, names) for names in sac.NAMES
        )
        self.trained = (self.critics, self.actor, self.temperature)
        self.moments = [Moments(p.flat, sac.LEARNING_RATE, sac.EPSILON) for p in self.trained]
        super().__init__([*self.trained, self.targets], self.moments)
        self._update = self._compile() if compile else self._eager()

    def __call__(self, batch: Mapping[str, np.ndarray]) -> list[float]:
        return [loss.item() for loss in self._update(*[torch.from_numpy(batch[key]) for key in sac.KEYS])]

    def _eager(self) -> Callable[..., Any]:
        actor, critics, targets = self.actor.views, self.critics.views, self.targets.views
        actor_leaves, critic_leaves = self.actor.leaves(), self.critics.leaves()
        step_critics, step_actor, step_temperature = (moments.step for moments in self.moments)
        logarithm = self.temperature.views[0]
        # That of the temperature is simple enough.
        temperature_gradient = self.temperature.flat.new_empty(1)
        online, followers = self.critics.flat, self.targets.flat

        def derivative(loss: Tensor, leaves: tuple[Tensor, ...]) -> Tensor:
            return flatten(run_backward((loss,), ONE, False, False, leaves, True, accumulate_grad=False))

        def update(*batch: Tensor) -> Any:
            states, actions, rewards, terminals, next_states, noise, next_noise = batch
            alpha = logarithm.exp()
            wanted = targets_of(alpha, actor, targets, rewards, terminals, next_states, next_noise)
            critic_loss = critic_loss_of(critic_leaves, states, actions, wanted)
            step_critics(derivative(critic_loss, critic_leaves))

            new_actions, log_probs = act(actor_leaves, states, noise)
            actor_loss = actor_loss_of(alpha, critics, states, new_actions, log_probs)
            step_actor(derivative(actor_loss, actor_leaves))

            excess = log_probs.detach().mean().add_(sac.TARGET_ENTROPY).neg_()
            temperature_loss = logarithm * excess
            step_temperature(torch.mul(excess, 1.0, out=temperature_gradient[0]).view(1))
            followers.lerp_(online, sac.TAU)
            return critic_loss, temperature_loss, actor_loss

        return update

    def _compile(self) -> Callable[..., Any]:
        parts = [
            (part.flat, *moments.state) for part, moments in zip(self.trained, self.moments, strict=True)
        ]

        def update(state: Any, batch: Any) -> Any:
            states, actions, rewards, terminals, next_states, noise, next_noise = batch
            critic_state, actor_state, temperature_state = state[:4], state[4:8], state[8:12]
            followers, logarithm = state[12], temperature_state[0][0]
            alpha = logarithm.exp()
            wanted = targets_of(
                alpha,
                self.actor.cut(actor_state[0]),
                self.targets.cut(followers),
                *(rewards, terminals, next_states, next_noise),
            )
            leaf = critic_state[0].detach().requires_grad_()
            critic_loss = critic_loss_of(self.critics.cut(leaf), states, actions, wanted)
            critic_state = adam(
                critic_state, torch.autograd.grad(critic_loss, leaf)[0], sac.LEARNING_RATE, sac.EPSILON
            )
            leaf = actor_state[0].detach().requires_grad_()
            new_actions, log_probs = act(self.actor.cut(leaf), states, noise)
            actor_loss = actor_loss_of(
                alpha, self.critics.cut(critic_state[0]), states, new_actions, log_probs
            )
            actor_state = adam(
                actor_state, torch.autograd.grad(actor_loss, leaf)[0], sac.LEARNING_RATE, sac.EPSILON
            )
            excess = -(log_probs.detach().mean() + sac.TARGET_ENTROPY)
            temperature_state = adam(temperature_state, excess.view(1), sac.LEARNING_RATE, sac.EPSILON)
            followers = followers.lerp(critic_state[0], sac.TAU)
            new = [*critic_state, *actor_state, *temperature_state, followers]
            return new, [critic_loss.detach(), logarithm * excess, actor_loss.detach()]

        batch = sac.random_batch()
        states = [tensor for part in parts for tensor in part] + [self.targets.flat]
        return compiled(update, states, [torch.from_numpy(batch[key]) for key in sac.KEYS])
