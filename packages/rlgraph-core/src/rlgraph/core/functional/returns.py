"""Returns and advantages of trajectories, with time along the first axis.

All functions take ``rewards [T, ...]`` of steps and ``next_values [T, ...]``, the values of the states after these
steps (`sequences.values_of_next_states` computes them from the values of the states). A trajectory may end in two ways:

* The episode **terminated** (``terminated [T, ...]``, bool): no step follows; the value of the next state is ignored,
  but must be finite.
* The fragment **ends** (``ends [T, ...]``, bool; also the last row): a time limit, or the end of the data. The value
  of the next state stands in for the rest of the episode.

``[...]`` is a batch of trajectories side by side, ``[T, B]``, or empty: ``[N]`` holds concatenated trajectories.
``discount`` is a number or ``[T, ...]``. All functions are differentiable; stop the gradients of
results that serve as fixed targets.
"""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.sequences import values_of_next_states

Tensor = Any


def td_errors(
    ops: Any, rewards: Tensor, values: Tensor, next_values: Tensor, terminated: Tensor, discount: Any
) -> Tensor:
    """``r_t + discount * V(s_{t+1}) - V(s_t)``: all ``[T, ...] -> [T, ...]``. Sutton (1988)."""
    return rewards + _discounts(ops, rewards, terminated, discount) * next_values - values


def lambda_returns(
    ops: Any,
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    lambda_: float,
    ends: Tensor | None = None,
) -> Tensor:
    """``G_t = r_t + discount * ((1 - lambda) * V(s_{t+1}) + lambda * G_{t+1})``; at an end lambda is 0.

    Shapes: all ``[T, ...] -> [T, ...]``. Sutton and Barto (2018), eq. 12.18,
    http://incompleteideas.net/book/the-book-2nd.html.
    """
    discounts = _discounts(ops, rewards, terminated, discount)
    traces = _traces(ops, discounts, lambda_, ends)
    return ops.linear_recurrence(
        rewards + (discounts - traces) * next_values, traces, next_values[-1], reverse=True
    )


def discounted_returns(
    ops: Any,
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    ends: Tensor | None = None,
) -> Tensor:
    """The discounted rewards up to the end of the episode, or of the fragment and the value of the state after it.

    Shapes: all ``[T, ...] -> [T, ...]``; `next_values` matter only at the ends of fragments. Sutton and Barto (2018),
    eq. 3.8.
    """
    return lambda_returns(ops, rewards, next_values, terminated, discount, 1.0, ends)


def n_step_returns(
    ops: Any,
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    n: int,
    ends: Tensor | None = None,
) -> Tensor:
    """``r_t + ... + discount^(n-1) * r_{t+n-1} + discount^n * V(s_{t+n})``, over fewer steps where the fragment ends.

    Shapes: all ``[T, ...] -> [T, ...]``. Sutton and Barto (2018), eq. 7.1. Computed as a window
    of `n` rows, in `n` passes.
    """
    discounts = _discounts(ops, rewards, terminated, discount)
    following = next_values
    for _ in range(n - 1):
        returns = rewards + discounts * following
        following = values_of_next_states(ops, returns, next_values, ends)
    return rewards + discounts * following


def generalized_advantage_estimation(
    ops: Any,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    gae_lambda: float,
    ends: Tensor | None = None,
) -> Tensor:
    """``A_t = delta_t + discount * lambda * A_{t+1}`` with TD errors delta; the sum stops at an end.

    Shapes: all ``[T, ...] -> [T, ...]``. Schulman et al. (2016), eq. 16, https://arxiv.org/abs/1506.02438.
    """
    discounts = _discounts(ops, rewards, terminated, discount)
    errors = rewards + discounts * next_values - values
    return ops.linear_recurrence(errors, _traces(ops, discounts, gae_lambda, ends), reverse=True)


def advantages_across_episodes(
    ops: Any,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    valid: Tensor,
    discount: float,
    gae_lambda: float,
) -> Tensor:
    """Generalized advantages of returns that continue across episodes: ``[T, ...] -> [T, ...]``.

    ``A_t = r_t + discount * V(s_{t+1}) - V(s_t) + discount * lambda * A_{t+1}``, where ``s_{t+1}`` is the state of the
    next step, at the end of an episode the first of the next one. Burda et al. (2018), section 2.3,
    https://arxiv.org/abs/1810.12894, "non-episodic".

    Args:
        ops: operations of the backend.
        rewards, values: of the steps.
        next_values: the values of the states that were reached; that of the last step is used.
        valid: bool ``[T, ...]``: rows that are not steps are skipped, whatever is in them; their advantage is 0.
        discount, gae_lambda: in [0, 1].
    """
    zeros, passed = ops.zeros_like(values), ops.where(valid, ops.zeros_like(values), 1.0)
    # A row that is not a step gets the value of the next step, or of the state that the last step reached.
    last = ops.linear_recurrence(ops.where(valid, next_values, zeros), passed)[-1]
    values = ops.linear_recurrence(ops.where(valid, values, zeros), passed, last, reverse=True)
    following = ops.concat([values[1:], ops.expand_dims(last, 0)], axis=0)
    discounts = ops.where(valid, ops.full_like(values, discount), 1.0)
    errors = ops.where(valid, rewards, zeros) + discounts * following - values
    traces = ops.where(valid, ops.full_like(values, discount * gae_lambda), 1.0)
    return ops.where(valid, ops.linear_recurrence(errors, traces, reverse=True), zeros)


def _discounts(ops: Any, rewards: Tensor, terminated: Tensor, discount: Any) -> Tensor:
    return ops.where(terminated, ops.zeros_like(rewards), discount)


def _traces(ops: Any, discounts: Tensor, lambda_: float, ends: Tensor | None) -> Tensor:
    """The factor of the next step's sum in the sum of a step."""
    traces = lambda_ * discounts
    return traces if ends is None else ops.where(ends, 0.0, traces)
