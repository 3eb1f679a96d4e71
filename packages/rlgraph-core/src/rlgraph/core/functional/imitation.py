"""Learning from demonstrations."""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.q_learning import action_values

Tensor = Any


def large_margin_loss(ops: Any, q_values: Tensor, expert_actions: Tensor, margin: Any) -> Tensor:
    """``max_a (Q(s, a) + l(a_E, a)) - Q(s, a_E)``, where l is `margin` for all actions but the expert's, else 0.

    Shapes: ``q_values [B, ..., A], expert_actions [B, ...] (int64), margin`` a number, ``[]``, or broadcastable to
    ``[B, ...] -> [B, ...]``. DQfD, Hester et al. (2018), J_E in section 4, https://arxiv.org/abs/1704.03732,
    after Piot et al. (2014). It is 0 where the expert's action is better than all others by the margin.
    """
    others = 1.0 - ops.one_hot(expert_actions, q_values.shape[-1])
    if not isinstance(margin, int | float):
        margin = ops.expand_dims(margin, -1)
    return ops.max(q_values + margin * others, axis=-1) - action_values(ops, q_values, expert_actions)
