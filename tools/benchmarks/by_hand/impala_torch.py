"""The update of IMPALA (Espeholt et al., 2018) on PyTorch, written by hand: eager, and with losses, derivatives and
optimizer compiled. V-trace is computed on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from by_hand.flat_torch import ONE, Moments, Parameters, adam, compiled, flatten, run_backward
from by_hand.ppo_learner import NAMES
from by_hand.ppo_torch import network
from by_hand.sampler import STATE_SIZE, Rollout, starting_weights
from by_hand.sampler import network as numpy_network
from torch import Tensor

DISCOUNT, VALUE_WEIGHT, ENTROPY_WEIGHT = 0.99, 0.5, 0.01
LEARNING_RATE, EPSILON, CLIP_NORM = 5e-4, 1e-8, 40.0


def loss_of(log_probs: Tensor, values: Tensor, actions: Tensor, *records: Tensor) -> Tensor:
    """The mean loss of steps ``[T N]``; `weights` are 1 / their number, 0 for rows that are no steps."""
    weights, advantages, targets = records
    taken = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    negative_entropy = (log_probs.exp() * log_probs).sum(1)
    gain = taken * advantages - ENTROPY_WEIGHT * negative_entropy
    return (weights * (0.5 * VALUE_WEIGHT * (values - targets).square() - gain)).sum()


def v_trace(
    rollout: Rollout, log_ratios: np.ndarray, values: np.ndarray, following: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Advantages of the policy gradient and targets of the values ``[T, N]``, eq. 1; all ratios limited by 1."""
    ratios = np.minimum(np.exp(log_ratios), 1.0)
    goes_on = np.where(rollout.terminals, np.float32(0), np.float32(DISCOUNT))
    errors = ratios * (rollout.rewards + goes_on * following - values)
    decays = np.where(rollout.ends | ~rollout.valid, np.float32(0), np.float32(DISCOUNT)) * ratios
    corrections, product = errors, np.empty_like(errors[0])
    for t in range(len(errors) - 2, -1, -1):
        corrections[t] += np.multiply(decays[t], corrections[t + 1], product)
    targets = values + corrections
    # The target of the state that a step led to: where an episode ended or was cut it is its value.
    reached = following.copy()
    goes_further = ~(rollout.ends | ~rollout.valid)[:-1]
    np.copyto(reached[:-1], targets[1:], where=goes_further)
    return ratios * (rollout.rewards + goes_on * reached - values), targets


class Learner:
    """``learn(rollout)``: one step on it.

    Args:
        steps, environments: T and N of every rollout.
    """

    def __init__(self, steps: int, environments: int, compile: bool = False, seed: int = 1):
        rng = np.random.default_rng(seed)
        self.parameters = Parameters(starting_weights(NAMES, rng), NAMES)
        self.moments = Moments(self.parameters.flat, LEARNING_RATE, EPSILON)
        self.weights = [view.numpy() for view in self.parameters.views]
        self.leaves = self.parameters.leaves()
        self.size = (steps, environments)
        self._compiled = self._compile(steps * environments) if compile else None

    @property
    def policy(self) -> list[np.ndarray]:
        return self.weights[:6]

    def learn(self, rollout: Rollout) -> None:
        step = self._eagerly if self._compiled is None else self._in_one_program
        step(rollout, rollout.states.reshape(-1, STATE_SIZE), torch.from_numpy(rollout.actions.ravel()))

    def _eagerly(self, rollout: Rollout, rows: np.ndarray, actions: Tensor) -> None:
        """Networks once for values, targets and derivatives."""
        count, leaves = actions.numel(), self.leaves
        states = torch.from_numpy(rows)
        log_probs = network(leaves[:6], states[:count]).log_softmax(1)
        values = network(leaves[6:], states[:count]).squeeze(1)
        detached = values.detach().numpy()
        last = numpy_network(self.weights[6:], np.concatenate([rows[count:], rollout.reached]))[:, 0]
        taken = log_probs.detach().gather(1, actions.unsqueeze(1)).numpy()[:, 0]
        records = self._records(rollout, taken, detached, last)
        loss = loss_of(log_probs, values[:count], actions, *records)
        gradients = run_backward((loss,), ONE, False, False, leaves, True, accumulate_grad=False)
        self.moments.step(flatten(gradients), CLIP_NORM)

    def _in_one_program(self, rollout: Rollout, rows: np.ndarray, actions: Tensor) -> None:
        """Values and log-probabilities on NumPy, the rest compiled."""
        count = actions.numel()
        values = numpy_network(self.weights[6:], np.concatenate([rows, rollout.reached]))[:, 0]
        logits = numpy_network(self.weights[:6], rows[:count])
        logits -= logits.max(1, keepdims=True)
        taken = np.take_along_axis(logits, rollout.actions.reshape(-1, 1), 1)[:, 0]
        taken -= np.log(np.exp(logits).sum(1))
        records = self._records(rollout, taken, values[:count], values[count:])
        assert self._compiled is not None
        self._compiled(torch.from_numpy(rows[:count]), actions, *records)

    def _records(
        self, rollout: Rollout, taken: np.ndarray, values: np.ndarray, last: np.ndarray
    ) -> Sequence[Tensor]:
        """Weights, advantages and targets ``[T N]``; `last` are the values of the last and of truncated states."""
        number = self.size[1]
        per_step = values.reshape(self.size)
        following = np.concatenate([per_step[1:], last[None, :number]])
        following[rollout.truncated] = last[number:]
        log_ratios = taken.reshape(self.size) - rollout.log_probs
        advantages, targets = v_trace(rollout, log_ratios, per_step, following)
        weights = rollout.valid.astype(np.float32)
        weights /= weights.sum()
        return [torch.from_numpy(array.ravel()) for array in (weights, advantages, targets)]

    def _compile(self, rows: int) -> Callable[..., Any]:
        parameters = self.parameters

        def step(states: Any, inputs: Any) -> Any:
            flat = states[0].detach().requires_grad_()
            leaves = parameters.cut(flat)
            log_probs = network(leaves[:6], inputs[0]).log_softmax(1)
            loss = loss_of(log_probs, network(leaves[6:], inputs[0]).squeeze(1), *inputs[1:])
            (gradient,) = torch.autograd.grad(loss, flat)
            return adam(states, gradient, LEARNING_RATE, EPSILON, CLIP_NORM), [loss.detach()]

        floats = [torch.zeros(rows) for _ in range(3)]
        examples = [torch.zeros(rows, STATE_SIZE), torch.zeros(rows, dtype=torch.int64), *floats]
        return compiled(step, [parameters.flat, *self.moments.state], examples)
