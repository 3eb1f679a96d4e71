"""Soft actor-critic (SAC): Haarnoja et al. (2018), https://arxiv.org/abs/1812.05905, whose equations are cited below.

For categorical actions Christodoulou (2019), https://arxiv.org/abs/1910.07207, replaces samples by the
expectation over all actions: see the functions with ``discrete`` in their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.core.functional.q_learning import q_learning_target
from rlgraph.core.functional.td3 import clipped_double_q

Tensor = Any


def soft_value(ops: Any, q_values: Sequence[Tensor], log_probs: Tensor, alpha: Tensor) -> Tensor:
    """``min_i Q_i(s, a) - alpha log pi(a|s)`` of a sampled action: each ``[B], log_probs [B], alpha [] -> [B]``; eq. 3.

    The minimum over several critics is that of section 6.
    """
    return clipped_double_q(ops, q_values) - alpha * log_probs


def discrete_soft_value(ops: Any, q_values: Sequence[Tensor], log_probs: Tensor, alpha: Tensor) -> Tensor:
    """``sum_a pi(a|s) (min_i Q_i(s, a) - alpha log pi(a|s))``: ``q_values`` each ``[B, A], log_probs [B, A] -> [B]``.

    Christodoulou (2019), eq. 10.
    """
    return ops.sum(ops.exp(log_probs) * soft_value(ops, q_values, log_probs, alpha), axis=-1)


def sac_target(
    ops: Any, rewards: Tensor, terminals: Tensor, next_soft_values: Tensor, discount: Any
) -> Tensor:
    """``r + discount * V(s')``: ``rewards [B], terminals [B] (bool), next_soft_values [B] -> [B]``; target in eq. 5.

    The soft values are those of the target critics, at actions of the current policy. No gradient flows through it.
    """
    return q_learning_target(ops, rewards, terminals, next_soft_values, discount)


def sac_critic_loss(ops: Any, q_values: Sequence[Tensor], targets: Tensor) -> Tensor:
    """``sum_i (Q_i(s, a) - y)^2 / 2`` of the actions taken: each ``[B], targets [B] -> [B]``; eq. 5."""
    losses = [0.5 * ops.square(values - ops.stop_gradient(targets)) for values in q_values]
    return sum(losses[1:], start=losses[0])


def sac_actor_loss(ops: Any, q_values: Sequence[Tensor], log_probs: Tensor, alpha: Tensor) -> Tensor:
    """``alpha log pi(a|s) - min_i Q_i(s, a)`` of a reparameterised action: each ``[B], log_probs [B] -> [B]``; eq. 9.

    No gradient flows into alpha.
    """
    return -soft_value(ops, q_values, log_probs, ops.stop_gradient(alpha))


def discrete_sac_actor_loss(ops: Any, q_values: Sequence[Tensor], log_probs: Tensor, alpha: Tensor) -> Tensor:
    """``sum_a pi(a|s) (alpha log pi(a|s) - min_i Q_i(s, a))``: each ``[B, A], log_probs [B, A] -> [B]``.

    Christodoulou (2019), eq. 12. The gradient flows only into the policy.
    """
    fixed = [ops.stop_gradient(values) for values in q_values]
    return -discrete_soft_value(ops, fixed, log_probs, ops.stop_gradient(alpha))


def sac_alpha_loss(ops: Any, alpha: Tensor, log_probs: Tensor, target_entropy: float) -> Tensor:
    """``-alpha (log pi(a|s) + H)``: ``alpha [], log_probs [B] -> [B]``; eq. 18.

    Above the target entropy, alpha decreases. No gradient flows into the policy. With ``log(alpha)`` for `alpha` it is
    the loss of the authors' code, whose gradient does not vanish for small alpha.
    """
    return -alpha * ops.stop_gradient(log_probs + target_entropy)


def discrete_sac_alpha_loss(ops: Any, alpha: Tensor, log_probs: Tensor, target_entropy: Any) -> Tensor:
    """``-alpha sum_a pi(a|s) (log pi(a|s) + H)``: ``alpha [], log_probs [B, A] -> [B]``.

    Christodoulou (2019), eq. 11. The target entropy H is a number, or one for each item, ``[B, 1]``.
    """
    surplus = ops.sum(ops.exp(log_probs) * (log_probs + target_entropy), axis=-1)
    return -alpha * ops.stop_gradient(surplus)
