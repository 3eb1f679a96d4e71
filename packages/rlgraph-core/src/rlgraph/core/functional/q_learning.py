"""Q-learning targets and errors."""

from __future__ import annotations

from typing import Any

Tensor = Any


def action_values(ops: Any, q_values: Tensor, actions: Tensor) -> Tensor:
    """Q(s, a) of the actions taken: ``q_values [B, ..., A], actions [B, ...] (int64) -> [B, ...]``."""
    return ops.squeeze(ops.take_along_axis(q_values, ops.expand_dims(actions, -1), axis=-1), axis=-1)


def q_learning_target(
    ops: Any, rewards: Tensor, terminals: Tensor, next_values: Tensor, discount: Any
) -> Tensor:
    """``r + discount * V(s')``, without the bootstrap where the episode terminated.

    Shapes: ``rewards [B], terminals [B] (bool), next_values [B], discount`` a number or ``[B] -> [B]``. Watkins and
    Dayan (1992); the target of DQN, Mnih et al. (2015), https://www.nature.com/articles/nature14236. For the n-step
    target, r is the discounted sum of n rewards, s' the state n steps later and the discount ``gamma ** n``
    (Sutton, 1988; Hessel et al., 2018, eq. 1, https://arxiv.org/abs/1710.02298). No gradient flows through the target.
    """
    bootstrap = ops.where(terminals, ops.zeros_like(next_values), next_values)
    return ops.stop_gradient(rewards + discount * bootstrap)


def greedy_next_values(ops: Any, q_next_target: Tensor) -> Tensor:
    """The largest value of the target network: ``q_next_target [B, ..., A] -> [B, ...]``. Mnih et al. (2015)."""
    return ops.max(q_next_target, axis=-1)


def double_q_next_values(ops: Any, q_next: Tensor, q_next_target: Tensor) -> Tensor:
    """The target network's value of the action that the online network prefers.

    Shapes: ``q_next [B, ..., A], q_next_target [B, ..., A] -> [B, ...]``. Double DQN, van Hasselt et al. (2016), eq. 4,
    https://arxiv.org/abs/1509.06461.
    """
    return action_values(ops, q_next_target, ops.argmax(q_next, axis=-1))


def expected_next_values(ops: Any, q_next: Tensor, probabilities: Tensor) -> Tensor:
    """The expected value under the policy: ``q_next [B, ..., A], probabilities [B, ..., A] -> [B, ...]``.

    Expected Sarsa, van Seijen et al. (2009), https://doi.org/10.1109/ADPRL.2009.4927542.
    """
    return ops.sum(probabilities * q_next, axis=-1)


def branching_td_errors(
    ops: Any,
    taken: Tensor,
    rewards: Tensor,
    terminals: Tensor,
    next_values: Tensor,
    discount: Any,
    *,
    shared_target: bool = False,
    rescaled: bool = False,
) -> Tensor:
    """TD errors of actions with D parts, each with its own action values: ``[B, D]``.

    Shapes: ``taken [B, D]`` (values of the actions), ``rewards [B], terminals [B], next_values [B, D], discount`` a
    number, ``[]`` or ``[B]``. Tavakoli et al. (2018), https://arxiv.org/abs/1711.08946, "Temporal-difference target":
    each part has its own target, or all share the target with the mean of the parts' next values. With `rescaled`
    values are those of `rescale`.
    """
    if rescaled:
        next_values = unscale(ops, next_values)
    if shared_target:
        next_values = ops.mean(next_values, axis=1, keepdims=True)
    if len(getattr(discount, "shape", ())) == 1:
        discount = ops.expand_dims(discount, 1)
    rewards, terminals = ops.expand_dims(rewards, 1), ops.expand_dims(terminals, 1)
    targets = q_learning_target(ops, rewards, terminals, next_values, discount)
    return (rescale(ops, targets) if rescaled else targets) - taken


#: The slope that keeps `rescale` invertible: Kapturowski et al. (2019), table 2.
RESCALING_SLOPE = 1e-3


def rescale(ops: Any, values: Tensor) -> Tensor:
    """``h(x) = sign(x) (sqrt(|x| + 1) - 1) + e x``, elementwise: large returns without clipped rewards.

    Pohlen et al. (2018), https://arxiv.org/abs/1805.11593; the target of rescaled values is ``h(r + g h^-1(V))``.
    """
    return ops.sign(values) * (ops.sqrt(ops.abs(values) + 1.0) - 1.0) + RESCALING_SLOPE * values


def unscale(ops: Any, values: Tensor) -> Tensor:
    """The inverse of `rescale`, elementwise: Pohlen et al. (2018), proposition A.2."""
    e = RESCALING_SLOPE
    root = (ops.sqrt(1.0 + 4.0 * e * (ops.abs(values) + 1.0 + e)) - 1.0) / (2.0 * e)
    return ops.sign(values) * (ops.square(root) - 1.0)


def huber(ops: Any, errors: Tensor, delta: float = 1.0) -> Tensor:
    """``e^2 / 2`` for ``|e| <= delta``, else ``delta * (|e| - delta / 2)``; elementwise. Huber (1964)."""
    magnitude = ops.abs(errors)
    return ops.where(magnitude <= delta, 0.5 * ops.square(errors), delta * (magnitude - 0.5 * delta))
