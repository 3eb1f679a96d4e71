"""Returns and advantages of trajectories, time along the first axis.

All functions take ``rewards [T, ...]`` of steps and ``next_values [T, ...]``, the values of the states that these steps
led to (`sequences.values_of_next_states` makes them of the values of the states). Two things may happen behind a step,
and they are not the same:

* The episode **terminated** (``terminated [T, ...]``, bool): nothing follows, the state's value counts as 0.
* The fragment **ends** (``ends [T, ...]``, bool; also the last row): a time limit, or there are no more data. The value
  of the next state stands for what would have followed.

``[...]`` is a batch of trajectories side by side, ``[T, B]``, or nothing: ``[N]`` holds them one after the other.
``discount`` is a number or ``[T, ...]``. All functions have derivatives; who takes their results as fixed targets stops
them.
"""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.sequences import decayed_sums

Tensor = Any


def td_errors(
    ops: Any, rewards: Tensor, values: Tensor, next_values: Tensor, terminated: Tensor, discount: Any
) -> Tensor:
    """``r_t + discount * V(s_{t+1}) - V(s_t)``: all ``[T, ...] -> [T, ...]``. Sutton (1988)."""
    return rewards + discount * ops.where(terminated, 0.0, next_values) - values


def lambda_returns(
    ops: Any,
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    lambda_: float,
    ends: Tensor | None = None,
) -> Tensor:
    """``G_t = r_t + discount * ((1 - lambda) * V(s_{t+1}) + lambda * G_{t+1})``; at an end as if lambda were 0.

    Shapes: all ``[T, ...] -> [T, ...]``. Sutton and Barto (2018), eq. 12.18,
    http://incompleteideas.net/book/the-book-2nd.html.
    """
    bootstrap = ops.where(terminated, 0.0, next_values)
    trace = ops.where(_cuts(terminated, ends), ops.zeros_like(rewards), lambda_)
    return ops.linear_recurrence(
        rewards + discount * (1.0 - trace) * bootstrap, discount * trace, bootstrap[-1], reverse=True
    )


def discounted_returns(
    ops: Any,
    rewards: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    discount: Any,
    ends: Tensor | None = None,
) -> Tensor:
    """The discounted rewards up to the end of the episode, or of the fragment and the value of the state behind it.

    Shapes: all ``[T, ...] -> [T, ...]``; of `next_values` only those behind fragments matter. Sutton and Barto (2018),
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

    Shapes: all ``[T, ...] -> [T, ...]``. Sutton and Barto (2018), eq. 7.1. A window of `n` rows and not a recursion: it
    takes `n` passes.
    """
    one_step = rewards + discount * ops.where(terminated, 0.0, next_values)
    cuts = _cuts(terminated, ends)
    returns = one_step
    for _ in range(n - 1):
        longer = rewards[:-1] + (discount[:-1] if hasattr(discount, "shape") else discount) * returns[1:]
        returns = ops.concat([ops.where(cuts[:-1], one_step[:-1], longer), one_step[-1][None]], axis=0)
    return returns


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
    """``A_t = delta_t + discount * lambda * A_{t+1}`` with the TD errors delta; nothing is carried over an end.

    Shapes: all ``[T, ...] -> [T, ...]``. Schulman et al. (2016), eq. 16, https://arxiv.org/abs/1506.02438.
    """
    errors = td_errors(ops, rewards, values, next_values, terminated, discount)
    return decayed_sums(ops, errors, _cuts(terminated, ends), discount * gae_lambda)


def _cuts(terminated: Tensor, ends: Tensor | None) -> Tensor:
    return terminated if ends is None else terminated | ends
