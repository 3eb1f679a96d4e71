"""Off-policy evaluation: what a target policy would have got, of steps that a behaviour policy did.

Time is the first axis. ``discounts [T, ...]`` are 0 where the episode terminated; ``ends [T, ...]`` (bool) are the last
steps of fragments that were cut elsewhere than in the last row, for example by a time limit.
"""

from __future__ import annotations

from typing import Any

Tensor = Any


def importance_ratios(ops: Any, log_probs: Tensor, behaviour_log_probs: Tensor) -> Tensor:
    """``rho = pi(a|s) / mu(a|s)`` of the actions that were done: logarithms ``[T, ...] -> [T, ...]``."""
    return ops.exp(log_probs - behaviour_log_probs)


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
        next_values: ``V(s_{t+1})``: the `values` of the next row, and behind the last the bootstrap value.
        rho_bar: limit of the ratios of the TD errors; decides which policy's value is found. None: no limit.
        c_bar: limit of the ratios of the trace; decides how fast. None: no limit.
        rho_bar_pg: limit of the ratios of the advantages. None: no limit.
        lambda_: factor of the trace.
        ends: last steps of fragments.
    """
    errors = rewards + discounts * next_values - values
    trace = discounts * truncated_ratios(ops, ratios, c_bar)
    if lambda_ != 1.0:
        trace = lambda_ * trace
    corrections = _corrections(ops, truncated_ratios(ops, ratios, rho_bar) * errors, trace, ends)
    next_corrections = _next(ops, corrections, ends)
    advantages = truncated_ratios(ops, ratios, rho_bar_pg) * (errors + discounts * next_corrections)
    return ops.stop_gradient(values + corrections), ops.stop_gradient(advantages)


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
        q_values: ``Q(s_t, a_t)`` of what was done.
        next_values: the mean of ``Q(s_{t+1}, a)`` over the actions of the target policy.
        lambda_: factor of the traces.
        ends: last steps of fragments.
    """
    errors = rewards + discounts * next_values - q_values
    traces = _next(ops, lambda_ * ops.minimum(ratios, 1.0), ends)
    return ops.stop_gradient(q_values + ops.linear_recurrence(errors, discounts * traces, reverse=True))


def _corrections(ops: Any, errors: Tensor, trace: Tensor, ends: Tensor | None) -> Tensor:
    if ends is not None:
        trace = ops.where(ends, 0.0, trace)
    return ops.linear_recurrence(errors, trace, reverse=True)


def _next(ops: Any, x: Tensor, ends: Tensor | None) -> Tensor:
    """``x_{t+1}``; 0 behind the last step of a fragment."""
    following = ops.pad(x[1:], ((0, 1), *((0, 0),) * (len(x.shape) - 1)))
    return following if ends is None else ops.where(ends, 0.0, following)
