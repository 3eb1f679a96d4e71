"""Off-policy evaluation: returns of a target policy from steps of a behaviour policy.

Time is the first axis. ``discounts [T, ...]`` are 0 where the episode terminated; ``ends [T, ...]`` (bool) mark the
last steps of fragments that end before the last row, for example at a time limit.
"""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.sequences import values_of_next_states

Tensor = Any

#: Logarithms of ratios are clipped to this, a ratio of 5e8. From 88 on, a ratio is infinite in single precision, and
#: its derivative is NaN (0 times infinity).
MAX_LOG_RATIO = 20.0


def importance_ratios(ops: Any, log_probs: Tensor, behaviour_log_probs: Tensor) -> Tensor:
    """``rho = pi(a|s) / mu(a|s)`` of the actions taken: logarithms ``[...] -> [...]``.

    Logarithms are clipped to `MAX_LOG_RATIO`, so ratios and their derivatives are finite.
    """
    return ops.exp(ops.minimum(log_probs - behaviour_log_probs, MAX_LOG_RATIO))


def truncated_ratios(ops: Any, ratios: Tensor, limit: float | None) -> Tensor:
    """``min(limit, rho)``; None: no limit."""
    return ratios if limit is None else ops.minimum(ratios, limit)


def v_trace(
    ops: Any,
    ratios: Tensor,
    discounts: Tensor,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    *,
    rho_bar: float | None = 1.0,
    c_bar: float | None = 1.0,
    rho_bar_pg: float | None = 1.0,
    lambda_: float = 1.0,
    ends: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """V-trace targets ``v_t`` and advantages ``rho_t * (r_t + discount_t * v_{t+1} - V(s_t))`` of the policy gradient.

    Shapes: all ``[T, ...] -> [T, ...], [T, ...]``. Espeholt et al. (2018), eq. 1 in its recursive form (remark 1),
    lambda as in remark 2, advantages of section 4.2, https://arxiv.org/abs/1802.01561. No gradient flows through them.

    Args:
        ops: the operations.
        ratios: importance ratios ``pi(a_t|s_t) / mu(a_t|s_t)``.
        discounts: discounts; 0 where the episode terminated.
        rewards: rewards.
        values: ``V(s_t)``.
        next_values: ``V(s_{t+1})``: the `values` of the next row; in the last row the bootstrap value.
        rho_bar: limit of the ratios of the TD errors; determines the policy whose value is estimated. None: no limit.
        c_bar: limit of the ratios of the trace; determines the speed of convergence. None: no limit.
        rho_bar_pg: limit of the ratios of the advantages. None: no limit.
        lambda_: factor of the trace.
        ends: last steps of fragments.
    """
    limits = dict.fromkeys((rho_bar, c_bar, rho_bar_pg))  # each once
    rho = {limit: truncated_ratios(ops, ratios, limit) for limit in limits}
    surplus = rewards - values
    traces = discounts * rho[c_bar] if lambda_ == 1.0 else lambda_ * discounts * rho[c_bar]
    if ends is not None:
        traces = ops.where(ends, 0.0, traces)
    errors = rho[rho_bar] * (surplus + discounts * next_values)
    corrections = ops.linear_recurrence(errors, traces, reverse=True)
    targets = values + corrections
    if rho_bar == c_bar == rho_bar_pg and lambda_ == 1.0:
        advantages = corrections  # remark 1 and section 4.2 then agree
    else:
        following = values_of_next_states(ops, targets, next_values, ends)
        advantages = rho[rho_bar_pg] * (surplus + discounts * following)
    return ops.stop_gradient(targets), ops.stop_gradient(advantages)


def retrace(
    ops: Any,
    ratios: Tensor,
    discounts: Tensor,
    rewards: Tensor,
    q_values: Tensor,
    next_values: Tensor,
    *,
    lambda_: float = 1.0,
    ends: Tensor | None = None,
) -> Tensor:
    """Retrace(lambda) targets of ``Q(s_t, a_t)``, with traces ``c_t = lambda * min(1, rho_t)``.

    Shapes: all ``[T, ...] -> [T, ...]``. Munos et al. (2016), eq. 3, https://arxiv.org/abs/1606.02647. No gradient
    flows through the targets.

    Args:
        ops: the operations.
        ratios: importance ratios ``pi(a_t|s_t) / mu(a_t|s_t)``.
        discounts: discounts; 0 where the episode terminated.
        rewards: rewards.
        q_values: ``Q(s_t, a_t)`` of the actions taken.
        next_values: the mean of ``Q(s_{t+1}, a)`` over the actions of the target policy.
        lambda_: factor of the traces.
        ends: last steps of fragments.
    """
    errors = rewards + discounts * next_values - q_values
    traces = lambda_ * ops.minimum(ratios, 1.0)
    # The trace of a step uses that of the next step; the last step has none.
    traces = discounts * ops.concat([traces[1:], traces[-1][None]], axis=0)
    if ends is not None:
        traces = ops.where(ends, 0.0, traces)
    return ops.stop_gradient(q_values + ops.linear_recurrence(errors, traces, reverse=True))
