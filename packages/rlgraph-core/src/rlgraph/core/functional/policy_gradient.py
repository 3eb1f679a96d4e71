"""Policy-gradient losses per item, to be minimised.

Items have any number of axes, ``[...]``: ``[B]``, ``[T, B]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.core.functional.off_policy import importance_ratios

Tensor = Any


def sum_of_parts(ops: Any, parts: Sequence[Tensor], rank: int) -> Tensor:
    """The log-probability or entropy of a whole action: ``parts`` of ``[..., ...]`` each ``-> [...]``, of `rank` axes.

    The parts of an action are drawn independently, so their log-probabilities and entropies are summed, over the parts
    and over the elements of each.
    """
    totals = [_sum_behind(ops, part, rank) for part in parts]
    return sum(totals[1:], start=totals[0])


def _sum_behind(ops: Any, part: Tensor, rank: int) -> Tensor:
    axes = tuple(range(rank, len(part.shape)))
    return ops.sum(part, axis=axes) if axes else part


def policy_gradient_loss(ops: Any, log_probs: Tensor, advantages: Tensor) -> Tensor:
    """``-A log pi(a|s)``: ``log_probs [...], advantages [...] -> [...]``. No gradient flows through the advantages.

    Its gradient is that of Williams (1992), https://doi.org/10.1007/BF00992696, with a baseline; with the value
    function as the baseline it is that of Mnih et al. (2016), Algorithm S3, https://arxiv.org/abs/1602.01783.
    """
    return -log_probs * ops.stop_gradient(advantages)


def entropy_loss(ops: Any, entropy: Tensor, weight: Any) -> Tensor:
    """``-weight * H``: ``entropy [...], weight`` a number or ``[] -> [...]``; a more uniform policy has a smaller loss.

    Williams and Peng (1991); Mnih et al. (2016), section 4, https://arxiv.org/abs/1602.01783.
    """
    return -weight * entropy


def divergence_estimate(ops: Any, log_probs: Tensor, prev_log_probs: Tensor) -> Tensor:
    """``(r - 1) - log r`` with ``r = pi(a|s) / pi_old(a|s)`` of an action drawn from pi_old: ``[...], [...] -> [...]``.

    Its expectation is ``KL(pi_old || pi)``, and it is never below 0: Schulman (2020), k3 in
    http://joschu.net/blog/kl-approx.html.
    """
    return importance_ratios(ops, log_probs, prev_log_probs) - 1.0 - (log_probs - prev_log_probs)


def ppo_clipped_surrogate(
    ops: Any, log_probs: Tensor, prev_log_probs: Tensor, advantages: Tensor, clip_ratio: Any
) -> Tensor:
    """``-min(r A, clip(r, 1 - c, 1 + c) A)`` with the ratio ``r = pi(a|s) / pi_old(a|s)``.

    Shapes: ``log_probs [...], prev_log_probs [...], advantages [...], clip_ratio`` a number or ``[] -> [...]``.
    Schulman et al. (2017), eq. 7, https://arxiv.org/abs/1707.06347, as a loss. A gradient flows through `log_probs`
    only. Ratios are computed by `off_policy.importance_ratios`, so they are finite.
    """
    ratios = importance_ratios(ops, log_probs, ops.stop_gradient(prev_log_probs))
    advantages = ops.stop_gradient(advantages)
    clipped = ops.minimum(ops.maximum(ratios, 1.0 - clip_ratio), 1.0 + clip_ratio)
    return -ops.minimum(ratios * advantages, clipped * advantages)


def value_loss(ops: Any, values: Tensor, targets: Tensor) -> Tensor:
    """``(V(s) - R)^2``: ``values [...], targets [...] -> [...]``. No gradient flows through the targets.

    Mnih et al. (2016), Algorithm S3, https://arxiv.org/abs/1602.01783; Schulman et al. (2017), eq. 9,
    https://arxiv.org/abs/1707.06347.
    """
    return ops.square(values - ops.stop_gradient(targets))


def ppo_clipped_value_loss(
    ops: Any, values: Tensor, prev_values: Tensor, targets: Tensor, clip_range: Any
) -> Tensor:
    """The larger of `value_loss` and the loss of the value clipped to within `clip_range` of the old one.

    Shapes: ``values [...], prev_values [...], targets [...], clip_range`` a number or ``[] -> [...]``. In the code of
    Schulman et al. (2017) but not in the paper; described by Engstrom et al. (2020), "value function clipping",
    https://arxiv.org/abs/2005.12729.
    """
    prev_values = ops.stop_gradient(prev_values)
    change = ops.minimum(ops.maximum(values - prev_values, -clip_range), clip_range)
    return ops.maximum(value_loss(ops, values, targets), value_loss(ops, prev_values + change, targets))
