"""Twin delayed deep deterministic policy gradient (TD3): Fujimoto et al. (2018), https://arxiv.org/abs/1802.09477."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.core.functional.q_learning import q_learning_target

Tensor = Any


def smoothed_actions(
    ops: Any, actions: Tensor, noise: Tensor, noise_clip: float, low: Any, high: Any
) -> Tensor:
    """``clip(a + clip(noise, -c, c) (high - low) / 2, low, high)``: the smoothed actions of the target policy.

    Shapes: ``actions [B, ...], noise [B, ...]``, in halves of the range as `noise_clip` is, bounds `low` and `high`
    numbers or ``[...] -> [B, ...]``. Fujimoto et al. (2018), eq. 14, and section 5.3.
    """
    moved = actions + ops.clip(noise, -noise_clip, noise_clip) * (0.5 * (high - low))
    return ops.minimum(ops.maximum(moved, low), high)


def clipped_double_q(ops: Any, q_values: Sequence[Tensor]) -> Tensor:
    """The smallest of the values of several critics: each ``[...] -> [...]``. Fujimoto et al. (2018), eq. 10."""
    smallest = q_values[0]
    for values in q_values[1:]:
        smallest = ops.minimum(smallest, values)
    return smallest


def td3_target(
    ops: Any, rewards: Tensor, terminals: Tensor, q_values_next: Sequence[Tensor], discount: Any
) -> Tensor:
    """``r + discount * min_i Q_i(s', a')``: ``rewards [B], terminals [B] (bool), q_values_next`` each ``[B] -> [B]``.

    Fujimoto et al. (2018), Algorithm 1; ``a'`` are the `smoothed_actions` of the target policy, ``Q_i`` the target
    critics. With one critic and without noise it is the target of DDPG (Lillicrap et al., 2016, Algorithm 1,
    https://arxiv.org/abs/1509.02971). No gradient flows through it.
    """
    return q_learning_target(ops, rewards, terminals, clipped_double_q(ops, q_values_next), discount)


def critic_loss(ops: Any, q_values: Sequence[Tensor], targets: Tensor) -> Tensor:
    """``sum_i (y - Q_i)^2``: ``q_values`` each ``[B], targets [B] -> [B]``. Fujimoto et al. (2018), Algorithm 1."""
    losses = [ops.square(ops.stop_gradient(targets) - values) for values in q_values]
    return sum(losses[1:], start=losses[0])


def deterministic_policy_gradient_loss(ops: Any, q_values: Tensor) -> Tensor:
    """``-Q(s, pi(s))``: ``[B] -> [B]``; the gradient flows through the action.

    Silver et al. (2014), eq. 9, https://proceedings.mlr.press/v32/silver14.html. TD3 takes the first critic's value.
    """
    return -q_values
