"""Q-learning targets and errors."""

from __future__ import annotations

from typing import Any

Tensor = Any


def action_values(ops: Any, q_values: Tensor, actions: Tensor) -> Tensor:
    """Q(s, a) of the actions taken: ``q_values [B, A], actions [B] -> [B]``."""
    return ops.squeeze(ops.take_along_axis(q_values, ops.expand_dims(actions, 1), axis=1), axis=1)


def q_learning_target(
    ops: Any, rewards: Tensor, terminals: Tensor, next_values: Tensor, discount: float
) -> Tensor:
    """``r + discount * V(s')``, without the bootstrap where the episode terminated.

    Shapes: ``rewards [B], terminals [B] (bool), next_values [B] -> [B]``. Watkins and Dayan (1992); the target of
    DQN, Mnih et al. (2015), https://www.nature.com/articles/nature14236. No gradient flows through the target.
    """
    bootstrap = ops.where(terminals, ops.zeros_like(next_values), next_values)
    return ops.stop_gradient(rewards + discount * bootstrap)


def double_q_next_values(ops: Any, q_next: Tensor, q_next_target: Tensor) -> Tensor:
    """The target network's value of the action the online network prefers.

    Shapes: ``q_next [B, A], q_next_target [B, A] -> [B]``. Double DQN, van Hasselt et al. (2016), eq. 4,
    https://arxiv.org/abs/1509.06461.
    """
    return action_values(ops, q_next_target, ops.argmax(q_next, axis=1))


def huber(ops: Any, errors: Tensor, delta: float = 1.0) -> Tensor:
    """``e^2 / 2`` for ``|e| <= delta``, else ``delta * (|e| - delta / 2)``; elementwise. Huber (1964)."""
    magnitude = ops.abs(errors)
    return ops.where(magnitude <= delta, 0.5 * ops.square(errors), delta * (magnitude - 0.5 * delta))
